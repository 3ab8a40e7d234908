// Times whole steps: what they take beside their kernels, and what ranks of one node lose to each other.
#ifndef WEFT_TOOLS_CALIBRATE_STEPS_H_
#define WEFT_TOOLS_CALIBRATE_STEPS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "runtime/device/device.h"
#include "runtime/plan/plan.pb.h"
#include "tools/calibrate/measured.h"

namespace weft::calibrate {

struct StepContext {
  const KernelRegistry* kernels = nullptr;
  device::Device* device = nullptr;  // null: the host
  int threads = 1;                   // that a kernel may use
  double seconds = 0;                // that this may take, about
  // Copies of a rank side by side: in this process, or one in each process of the node. The fewest is 1.
  int copies = 1;
  // Several processes: meets all of them, and gives what each comes with. Null: this one is alone.
  std::function<absl::StatusOr<std::vector<double>>(double)> gather = nullptr;
  bool first = true;  // of the processes: the one that works where one does
};

// Each of three plans side by side, and the third alone as well, in turn. Reserve: what the process has resident beside
// the arenas and what it had before. All processes of a node come at the same time; `measured` of the first is filled,
// and points to one of `plans`.
absl::Status MeasureSteps(const std::vector<plan::Plan>& plans, const StepContext& context, Measured& measured);

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_STEPS_H_
