#include "compiler/pipeline/candidates.h"

#include "compiler/job/job.h"
#include "compiler/pipeline/recompute.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/validate.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {
namespace {

// In front of what variants differ in most often: keys of the optimizer's state, then what is computed again.
bool isKept(Phase phase) { return phase == Phase::Zero || phase == Phase::Recompute; }

int64_t opsIn(mlir::ModuleOp module) {
  int64_t ops = 0;
  module.walk([&](mlir::Operation *) { ++ops; });
  return ops;
}

} // namespace

Candidates::Candidates(mlir::ModuleOp parsed, const Cluster &cluster) : cluster_(cluster) {
  kept_.push_back({"", Phase::Elaborate, mlir::OwningOpRef<mlir::ModuleOp>(parsed.clone())});
}

void Candidates::limit(int64_t work) {
  limited_ = work > 0;
  left_ = work;
  exhausted_ = false;
}

void Candidates::keep(const Job &job, Phase phase, mlir::ModuleOp module) {
  if (!find(job, phase)) {
    kept_.push_back({prefixOf(job, phase), phase, mlir::OwningOpRef<mlir::ModuleOp>(module.clone())});
  }
}

absl::StatusOr<plan::Plan> Candidates::planFor(const Job &job, bool offsets) {
  WEFT_ASSIGN_OR_RETURN(Unplaced found, unplacedFor(job));
  if (offsets) {
    WEFT_RETURN_IF_ERROR(layOut(cluster_, /*limitBytes=*/0, /*memorySeed=*/0, found.plan));
  }
  return std::move(found.plan);
}

absl::StatusOr<Unplaced> Candidates::unplacedFor(const Job &job) {
  int64_t work = 0;
  return lower(job, work);
}

absl::StatusOr<Unplaced> Candidates::lower(const Job &job, int64_t &work) {
  std::string first;
  mlir::ScopedDiagnosticHandler quiet(kept_.front().module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    const bool error = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    first = first.empty() && error ? diagnostic.str() : first;
    return mlir::success();
  });
  auto [lowering, next] = begin(job);
  for (Phase phase : allPhases()) {
    if (phase < next) {
      continue;
    }
    if (isKept(phase)) {
      keep(job, phase, *lowering.module);
    }
    const int64_t ops = opsIn(*lowering.module);
    work += phase > Phase::Recompute ? ops : 0;
    if (!spend(ops)) {
      return absl::ResourceExhaustedError("the work is done");
    }
    if (phase == Phase::Recompute && job.recompute().policy() == Recompute::AUTO) {
      *lowering.job.mutable_recompute() =
          resolveRecompute(*lowering.module, job, plan::PlanBytesOf(cluster_), cluster_.tier_size() > 0, *this);
      if (std::optional<Unplaced> found = fitted(lowering.job, job)) {
        return spend(fitting_->work) ? absl::StatusOr<Unplaced>(*std::move(found))
                                     : absl::ResourceExhaustedError("the work is done");
      }
    }
    if (failed(runPhase(lowering, phase, cluster_, *this))) {
      return absl::InvalidArgumentError(first);
    }
  }
  absl::StatusOr<plan::Plan> plan = planWithoutOffsets(lowering, job, cluster_);
  if (!plan.ok()) {
    return plan.status().message().empty() ? absl::InvalidArgumentError(first) : plan.status();
  }
  return Unplaced{*std::move(plan)};
}

std::optional<Unplaced> Candidates::fitted(const Job &job, const Job &asked) const {
  if (!fitting_ || fitting_->job != MessageText(job)) {
    return std::nullopt;
  }
  Unplaced found = fitting_->found;
  *found.plan.mutable_header()->mutable_job() = asked;
  *found.placed->mutable_header()->mutable_job() = asked;
  return found;
}

absl::StatusOr<std::vector<Fit>> Candidates::fit(const Job &job, int64_t bytes) {
  int64_t work = 0;
  WEFT_ASSIGN_OR_RETURN(Unplaced found, lower(job, work));
  plan::Plan placed = found.plan;
  WEFT_RETURN_IF_ERROR(layOut(cluster_, bytes, /*memorySeed=*/0, placed));
  std::vector<Fit> fits;
  for (const plan::Stage &stage : placed.stages()) {
    fits.push_back({int64_t(stage.arena_bytes()) <= bytes, !plan::FullTier(cluster_, stage),
                    int64_t(stage.lower_bound_bytes()), int64_t(stage.arena_bytes())});
  }
  if (bytes == plan::PlanBytesOf(cluster_) && llvm::all_of(fits, [](const Fit &fit) { return fit.fits; })) {
    found.placed = std::move(placed);
    fitting_ = Fitting{MessageText(job), std::move(found), work};
  }
  return fits;
}

absl::StatusOr<double> Candidates::secondsOf(const Job &job) {
  const bool isThere = fitting_ && fitting_->job == MessageText(job);
  absl::StatusOr<Unplaced> made = isThere ? absl::StatusOr<Unplaced>(Unplaced{}) : unplacedFor(job);
  if (!made.ok()) {
    return made.status();
  }
  const Unplaced &found = isThere ? fitting_->found : *made;
  WEFT_ASSIGN_OR_RETURN(const sim::Report report, sim::Simulate(found.plan, plan::MachineOf(cluster_)));
  return report.step_s;
}

absl::StatusOr<Summary> Candidates::compile(const Job &job, bool predict) {
  WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, planFor(job));
  Summary summary;
  for (const plan::Stage &stage : plan.stages()) {
    summary.stageBytes.push_back(int64_t(stage.arena_bytes()));
  }
  if (!predict) {
    return summary;
  }
  WEFT_RETURN_IF_ERROR(plan::Validate(plan));
  WEFT_ASSIGN_OR_RETURN(sim::Report report, sim::Simulate(plan, plan::MachineOf(cluster_)));
  summary.step_s = report.step_s;
  summary.exposed_comm_s = report.exposed_comm_s;
  summary.waiting_s = report.waiting_s;
  summary.compute_s = report.step_s * (1 - report.bubble_fraction);
  return summary;
}

std::string Candidates::prefixOf(const Job &job, Phase phase) const {
  std::string prefix;
  llvm::raw_string_ostream os(prefix);
  mlir::MLIRContext *context = kept_.front().module.get()->getContext();
  if (phase > Phase::Elaborate) {
    mlir::OwningOpRef<mlir::ModuleOp> inputs(mlir::ModuleOp::create(mlir::UnknownLoc::get(context)));
    setInputs(*inputs, job, CostModel{plan::MachineOf(cluster_)});
    inputs->print(os);
  }
  for (Phase earlier : allPhases()) {
    if (earlier >= phase) {
      break;
    }
    mlir::PassManager manager(context);
    buildPhase(manager, earlier, job);
    manager.printAsTextualPipeline(os);
    os << '\n';
  }
  return prefix;
}

const Candidates::Kept *Candidates::find(const Job &job, Phase phase) const {
  const std::string prefix = prefixOf(job, phase);
  for (const Kept &kept : kept_) {
    if (kept.phase == phase && kept.prefix == prefix) {
      return &kept;
    }
  }
  return nullptr;
}

std::pair<Lowering, Phase> Candidates::begin(const Job &job) const {
  const Kept *furthest = &kept_.front();
  for (Phase phase : allPhases()) {
    const Kept *kept = isKept(phase) ? find(job, phase) : nullptr;
    furthest = kept ? kept : furthest;
  }
  return {Lowering{job, mlir::OwningOpRef<mlir::ModuleOp>(furthest->module.get().clone()), {}, /*isTrial=*/true},
          furthest->phase};
}

bool Candidates::spend(int64_t work) {
  if (!limited_) {
    return true;
  }
  left_ -= work;
  exhausted_ |= left_ < 0;
  return left_ >= 0;
}

} // namespace weft::compiler
