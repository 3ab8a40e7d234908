// A copy of what checkpoints need of the state, for a thread that writes while training goes on.
#ifndef WEFT_TOOLS_RUN_STATE_COPY_H_
#define WEFT_TOOLS_RUN_STATE_COPY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/executor/cluster.h"

namespace weft::run {

// The tiles that this process's ranks save: of the ranks that hold one tile, one has it here. In host memory, which it
// takes once.
class StateCopy {
 public:
  // kResourceExhausted if the host has not so much. The cluster outlives it.
  static absl::StatusOr<std::unique_ptr<StateCopy>> Create(executor::Cluster& cluster);

  int64_t bytes() const { return bytes_; }

  // Copies the state as it is. Between steps.
  absl::Status Take();

  // Calls `task` for every tile with its bytes, until one fails. Any thread, but not during Take().
  absl::Status ForEach(const std::function<absl::Status(const executor::StateTile&, const void*)>& task) const;

 private:
  struct Part {
    const executor::StateTile* tile = nullptr;
    int64_t offset = 0;
  };
  struct OfRank {
    std::vector<Part> parts;
    std::unique_ptr<device::Arena> memory;
  };

  explicit StateCopy(executor::Cluster& cluster) : cluster_(cluster) {}

  executor::Cluster& cluster_;
  std::vector<OfRank> ranks_;  // of this process
  int64_t bytes_ = 0;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_STATE_COPY_H_
