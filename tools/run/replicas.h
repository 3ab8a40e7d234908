// Whether the ranks that hold the same parameters and optimizer state still do.
#ifndef WEFT_TOOLS_RUN_REPLICAS_H_
#define WEFT_TOOLS_RUN_REPLICAS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/executor/cluster.h"
#include "tools/run/processes.h"

namespace weft::run {

struct Replicas {
  int64_t tiles = 0;       // that more than one rank holds
  std::string difference;  // empty: none; else "`w`: rank 3 (host b) has other bits than ranks 0, 1 and 2"
};

// Compares, by checksums, the tiles of one tensor and one place in it that several ranks of the run hold. Where they
// differ, those are named that are fewer. Between steps. All processes come, and have the same answer.
absl::StatusOr<Replicas> CompareReplicas(executor::Cluster& cluster, Processes& processes);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_REPLICAS_H_
