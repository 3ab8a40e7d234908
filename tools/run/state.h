// Parameters and optimizer state of a cluster: from a checkpoint, and whether they are numbers.
#ifndef WEFT_TOOLS_RUN_STATE_H_
#define WEFT_TOOLS_RUN_STATE_H_

#include "absl/status/status.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/executor/cluster.h"
#include "tools/run/train.h"

namespace weft::run {

// Everything from a checkpoint that is verified. All processes come, and get the
// same error.
absl::Status LoadCheckpoint(const Context& context, executor::Cluster& cluster, checkpoint::CheckpointReader& reader);

// kAborted naming the tensor of a tile that has an element that is not finite.
absl::Status CheckFinite(const executor::StateTile& tile, const void* bytes);

// kAborted naming a tensor of this process's ranks that has an element that is not finite.
absl::Status CheckFiniteState(executor::Cluster& cluster);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_STATE_H_
