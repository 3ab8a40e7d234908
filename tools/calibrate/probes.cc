#include "tools/calibrate/probes.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "runtime/plan/load.h"

extern "C" {
extern const char weft_probes_cpu[], weft_probes_cpu_end[];
extern const char weft_probes_cuda[], weft_probes_cuda_end[];
}

namespace weft::calibrate {

absl::StatusOr<std::vector<plan::Plan>> ProbePlans(const std::string& kind) {
  const bool cuda = kind == "cuda";
  const char* const begin = cuda ? weft_probes_cuda : weft_probes_cpu;
  absl::string_view bytes(begin, (cuda ? weft_probes_cuda_end : weft_probes_cpu_end) - begin);
  std::vector<plan::Plan> plans;
  while (!bytes.empty()) {
    absl::StatusOr<plan::Plan> plan = plan::ParseFirst(&bytes);
    if (!plan.ok()) return plan.status();
    plans.push_back(*std::move(plan));
  }
  return plans;
}

}  // namespace weft::calibrate
