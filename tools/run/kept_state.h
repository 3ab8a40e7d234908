// The state of a cluster's ranks, kept in memory.
#ifndef WEFT_TOOLS_RUN_KEPT_STATE_H_
#define WEFT_TOOLS_RUN_KEPT_STATE_H_

#include <vector>

#include "absl/status/status.h"
#include "runtime/executor/cluster.h"

namespace weft::run {

// Calls `task` for every rank of this process, with its number among them, side by side.
template <typename Task>
absl::Status OnEveryRank(executor::Cluster& cluster, Task&& task) {
  return cluster.OnEveryRank([&](executor::Executor& executor) {
    int i = 0;
    while (&cluster.executor(i) != &executor) ++i;
    return task(i, executor);
  });
}

// Between steps. Takes as much of the host's memory as the state has bytes.
class KeptState {
 public:
  absl::Status Take(executor::Cluster& cluster);
  // What Take() has taken of the same cluster.
  absl::Status Restore(executor::Cluster& cluster) const;

 private:
  std::vector<std::vector<std::vector<char>>> tiles_;  // of each rank of this process
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_KEPT_STATE_H_
