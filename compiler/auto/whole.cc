#include "compiler/auto/whole.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/pipeline/lowering.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/validate.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {

std::string policyOf(const Point &point) {
  if (!point.policy)
    return "";
  return absl::StrCat(" recompute.policy=", Recompute::Policy_Name(*point.policy),
                      point.below ? " recompute.offload=true" : "");
}

plan::Alternative estimatedOf(const Point &point, const std::string &keys) {
  plan::Alternative all;
  all.set_keys(keys);
  all.set_step_s(point.estimate.step_s);
  all.set_estimated_s(point.estimate.step_s);
  all.set_bytes(int64_t(point.estimate.bytes));
  if (const Tier *full = point.estimate.fullTier) {
    all.set_full_tier(full->name());
    all.set_tier_lacks_bytes(int64_t(point.estimate.tierLacksBytes));
  }
  return all;
}

absl::Status place(const Cluster &cluster, bool dense, Whole &whole) {
  const bool isLimited = cluster.device().memory_bytes() > 0;
  const int64_t memory = plan::PlanBytesOf(cluster);
  whole.isDense = dense || !isLimited;
  if (!whole.isDense && whole.bare.placed) {
    whole.plan = *std::exchange(whole.bare.placed, std::nullopt);
  } else {
    whole.plan = whole.bare.plan;
    WEFT_RETURN_IF_ERROR(layOut(cluster, whole.isDense ? 0 : memory, /*memorySeed=*/0, whole.plan));
  }
  plan::Alternative &alternative = whole.alternative;
  alternative.clear_bytes();
  alternative.clear_full_tier();
  for (const plan::Stage &stage : whole.plan.stages()) {
    alternative.set_bytes(std::max(alternative.bytes(), stage.arena_bytes()));
    if (const std::optional<int> full = plan::FullTier(cluster, stage)) {
      alternative.set_full_tier(cluster.tier(*full).name());
      alternative.set_tier_lacks_bytes(stage.tier_bytes(*full) - cluster.tier(*full).memory_bytes());
    }
  }
  if (!isLimited || alternative.bytes() <= memory) {
    WEFT_RETURN_IF_ERROR(plan::Validate(whole.plan));
  }
  WEFT_ASSIGN_OR_RETURN(const sim::Report report, sim::Simulate(whole.plan, plan::MachineOf(cluster)));
  alternative.set_step_s(report.step_s);
  alternative.set_compute_s(report.step_s * (1 - report.bubble_fraction));
  alternative.set_exposed_comm_s(report.exposed_comm_s);
  alternative.set_waiting_s(report.waiting_s);
  return absl::OkStatus();
}

} // namespace weft::compiler
