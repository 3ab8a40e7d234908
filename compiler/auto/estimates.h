// What the choices of a search come to, by the profiles of their stages: each is compiled once.
#ifndef WEFT_COMPILER_AUTO_ESTIMATES_H_
#define WEFT_COMPILER_AUTO_ESTIMATES_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "compiler/auto/choice.h"
#include "compiler/auto/estimate.h"
#include "compiler/auto/profiles.h"
#include "compiler/auto/schedules.h"
#include "compiler/auto/whole.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/cost.h"

namespace weft::compiler {

/// For one thread.
class Estimates {
public:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity(); // of bytes

  /// `model` is as its file says it, `asked` the job that leaves choices open, with paths as seen from here; `addPins`
  /// adds to a job where the parameters of a choice lie. `cluster`, `space` and `asked` outlive this. `work`: half of
  /// it is what profiles may take (Candidates::limit).
  Estimates(mlir::ModuleOp model, const Cluster &cluster, const Space &space, const Job &asked, int64_t work,
            std::function<void(const Choice &, Job &)> addPins);

  /// One stage of a choice as a job of its own, with all layers and enough micro-batches to see one that others follow.
  /// `below`: what layers keep lies below the device.
  Job stageJob(const Choice &choice, Recompute::Policy policy, bool below = false) const;

  /// Of stages as a choice has them on its nodes; and of stages that have their nodes to themselves.
  Profiles &profilesOf(const Choice &choice);
  Profiles &profiles() { return profiles_; }

  /// Whether a profile was refused for want of work.
  bool exhausted() const { return profiles_.exhausted(); }

  /// `limit`: bytes that stages are cut for; `measured`: see schedule::bestCut. An error is that of the profile, or of
  /// estimate().
  absl::StatusOr<Estimate> with(const Choice &choice, Recompute::Policy policy, double limit = kNoLimit,
                                int measured = 0);

  /// With what layers keep below the device, of as few of them as fit, in eighths; of all if that does not fit either.
  absl::StatusOr<Estimate> below(const Choice &choice, Recompute::Policy policy, double limit, double memory,
                                 int measured);

  /// Makes `point` what fits with what layers keep below the device, if that is better: instead of recomputing more, or
  /// of not fitting. What takes `most_s` even with any memory is not looked at.
  void goBelow(const Choice &choice, double memory, double most_s, int measured, Point &point);

private:
  absl::StatusOr<Estimate> of(const Choice &choice, const Profile &profile, double limit, int measured);

  mlir::ModuleOp model_;
  const Cluster &cluster_;
  const Space &space_;
  const Job &asked_;
  const plan::Machine machine_;
  const int64_t work_;
  const std::function<void(const Choice &, Job &)> addPins_;
  const Tier *const stateTier_, *const keptTier_; // null if there is none
  Profiles profiles_;
  std::map<int64_t, std::unique_ptr<PartedProfiles>> parted_; // by the ranks of a node
  Schedules schedules_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_ESTIMATES_H_
