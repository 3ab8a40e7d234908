// The state of ranks from the snapshots that hosts have.
#ifndef WEFT_TOOLS_RUN_LOAD_SNAPSHOTS_H_
#define WEFT_TOOLS_RUN_LOAD_SNAPSHOTS_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/executor/cluster.h"
#include "tools/run/found_snapshots.h"
#include "tools/run/train.h"

namespace weft::run {

// Fills the state of this process's ranks; what its host lacks comes from the host that has it. All processes come, and
// get the same error.
absl::Status LoadSnapshots(const Context& context, executor::Cluster& cluster, const FoundSnapshots::Whole& whole);

// What a tile is called in a snapshot: its name and its place.
std::string TileKey(const executor::StateTile& tile);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_LOAD_SNAPSHOTS_H_
