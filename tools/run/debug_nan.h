// --debug-nan: which kernel made the first number that is not finite.
//
//   Keep() ─ the state as a step finds it ─▶ the step ─▶ not finite? ─▶ Find() ─ the state again, the step again, and
//                                                                         every kernel's tensors looked at
//
// A kernel that makes one of what is finite is where it begins; so is a collective, if what it gets is finite on all
// ranks. Of several the first counts in an order that the plan permits, the same in every run: nothing of what comes
// before it has made one, as what waits for another comes behind it.
#ifndef WEFT_TOOLS_RUN_DEBUG_NAN_H_
#define WEFT_TOOLS_RUN_DEBUG_NAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executor/cluster.h"
#include "tools/run/kept_state.h"
#include "tools/run/train.h"

namespace weft::run {

// Between steps. The cluster has no graphs (ClusterOptions), and outlives this.
class DebugNan {
 public:
  DebugNan(const Context& context, executor::Cluster& cluster) : context_(context), cluster_(cluster) {}

  // kAborted naming a tensor of the state that has others than finite numbers. All processes come, and get the same
  // error.
  absl::Status CheckState();

  // Before the step begins, which is counted from 0.
  void Keep(int64_t step);

  // Does the step again that was kept last, and says in lines what it has found. All processes come, and get the same
  // lines. The state is afterwards what the step makes of it.
  absl::StatusOr<std::string> Find();

 private:
  std::vector<std::optional<float>> Metrics() const;

  const Context& context_;
  executor::Cluster& cluster_;
  int64_t step_ = 0;
  KeptState state_;
  absl::Status kept_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_DEBUG_NAN_H_
