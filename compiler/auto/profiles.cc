#include "compiler/auto/profiles.h"

#include "compiler/analysis/repeats.h"
#include "compiler/job/job.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {
namespace {

// The first and the last layer of a repeat are beside something else: the one between them stands for the others.
constexpr int64_t kPlaced = 3;

mlir::OwningOpRef<mlir::ModuleOp> shallowOf(mlir::ModuleOp parsed) {
  mlir::OwningOpRef<mlir::ModuleOp> shallow(parsed.clone());
  shallow.get()->setAttr(kMostRepeatsName, mlir::Builder(parsed.getContext()).getI64IntegerAttr(kPlaced));
  return shallow;
}

Cluster partedInto(Cluster cluster, int64_t ranks) {
  Node &node = *cluster.mutable_node();
  const int64_t parts = node.ranks() / ranks;
  node.set_count(node.count() * parts);
  node.set_ranks(ranks);
  node.set_cores(node.cores() / double(parts));
  return cluster;
}

} // namespace

PartedProfiles::PartedProfiles(mlir::ModuleOp parsed, const Cluster &cluster, int64_t ranks, int64_t work)
    : parted(partedInto(cluster, ranks)), profiles(parsed, parted, work) {}

Profiles::Profiles(mlir::ModuleOp parsed, const Cluster &cluster, int64_t work)
    : cluster_(cluster), shallow_(shallowOf(parsed)), candidates_(*shallow_, cluster) {
  candidates_.limit(work);
}

const absl::StatusOr<Profile> &Profiles::of(const Job &job) {
  const std::string key = MessageText(job);
  auto it = known_.find(key);
  if (it == known_.end())
    it = known_.emplace(key, make(job)).first;
  return it->second;
}

const absl::StatusOr<Profile> *Profiles::known(const Job &job) const {
  const auto it = known_.find(MessageText(job));
  return it == known_.end() ? nullptr : &it->second;
}

absl::StatusOr<Profile> Profiles::make(const Job &job) {
  WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, candidates_.planFor(job, /*offsets=*/false));
  WEFT_ASSIGN_OR_RETURN(const sim::Report report, sim::Simulate(plan, plan::MachineOf(cluster_)));
  WEFT_ASSIGN_OR_RETURN(const Profile profile, profileOf(plan, report));
  if (!repeats_) {
    WEFT_ASSIGN_OR_RETURN(repeats_, countRepeats(job));
  }
  return withRepeats(profile, *repeats_);
}

bool Profiles::elaborates(const Job &job) {
  mlir::ScopedDiagnosticHandler quiet(shallow_.get()->getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  Lowering lowering{job, mlir::OwningOpRef<mlir::ModuleOp>(shallow_.get().clone()), {}};
  return succeeded(runPhase(lowering, Phase::Elaborate, cluster_, candidates_));
}

// They do not depend on the layout.
absl::StatusOr<std::map<std::string, int64_t>> Profiles::countRepeats(const Job &job) {
  Lowering lowering{job, mlir::OwningOpRef<mlir::ModuleOp>(shallow_.get().clone()), {}};
  if (failed(runPhase(lowering, Phase::Elaborate, cluster_, candidates_)))
    return absl::InvalidArgumentError("elaborate failed");
  std::map<std::string, int64_t> repeats;
  if (auto counts = lowering.module->getOperation()->getAttrOfType<mlir::DictionaryAttr>(kRepeatsName)) {
    for (mlir::NamedAttribute count : counts)
      repeats[count.getName().str()] = llvm::cast<mlir::IntegerAttr>(count.getValue()).getInt();
  }
  return repeats;
}

} // namespace weft::compiler
