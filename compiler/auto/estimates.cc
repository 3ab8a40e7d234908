#include "compiler/auto/estimates.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"

namespace weft::compiler {
namespace {

// The part of the work that may go into stages which begin or end within a node, for each way in which they do.
constexpr int64_t kParted = 8;

} // namespace

Estimates::Estimates(mlir::ModuleOp model, const Cluster &cluster, const Space &space, const Job &asked, int64_t work,
                     std::function<void(const Choice &, Job &)> addPins)
    : model_(model), cluster_(cluster), space_(space), asked_(asked), machine_(plan::MachineOf(cluster)), work_(work),
      addPins_(std::move(addPins)), stateTier_(TierOfZero(cluster, asked)), keptTier_(TierOfRecompute(cluster, asked)),
      profiles_(model, cluster, work / 2) {}

Job Estimates::stageJob(const Choice &choice, Recompute::Policy policy, bool below) const {
  Choice stage = choice;
  stage.pipeline = stage.chunks = 1;
  stage.schedule = ONE_F_ONE_B;
  stage.form = H1;
  Job job = space_.jobOf(stage);
  addPins_(choice, job);
  job.clear_pipeline();
  if (choice.schedule == ZERO_BUBBLE)
    job.mutable_pipeline()->set_schedule(ZERO_BUBBLE); // splits backwards, on one stage too
  job.mutable_dist()->set_pipeline(1);
  job.mutable_batch()->set_global(choice.micro * std::min<int64_t>(space_.microBatches(choice), 2));
  job.mutable_recompute()->clear_layers();
  job.mutable_recompute()->set_policy(policy);
  if (below)
    job.mutable_recompute()->set_offload(true);
  ResolveJob(&job);
  return job;
}

// Stages that begin or end within a node have their ranks on different nodes; all wait for the slowest. Of a node,
// what belongs to one stage wherever that begins counts as a node.
Profiles &Estimates::profilesOf(const Choice &choice) {
  const int64_t part = std::gcd(choice.stageRanks(), machine_.node_ranks);
  if (choice.pipeline == 1 || part == choice.stageRanks() || part == machine_.node_ranks)
    return profiles_;
  std::unique_ptr<PartedProfiles> &parted = parted_[part];
  if (!parted)
    parted = std::make_unique<PartedProfiles>(model_, cluster_, part, work_ / kParted);
  return parted->profiles;
}

absl::StatusOr<Estimate> Estimates::with(const Choice &choice, Recompute::Policy policy, double limit, int measured) {
  const absl::StatusOr<Profile> &profile = profilesOf(choice).of(stageJob(choice, policy));
  return profile.ok() ? of(choice, *profile, limit, measured) : profile.status();
}

absl::StatusOr<Estimate> Estimates::of(const Choice &choice, const Profile &profile, double limit, int measured) {
  const std::vector<std::string> asked(asked_.pipeline().cuts().begin(), asked_.pipeline().cuts().end());
  WEFT_ASSIGN_OR_RETURN(Estimate found, estimate(choice, space_.microBatches(choice), profile, machine_, schedules_,
                                                 {limit, measured, asked}));
  const auto add = [&](const Tier *tier, double bytes) {
    if (tier == nullptr || tier->memory_bytes() == 0 || bytes <= double(tier->memory_bytes()))
      return;
    found.fullTier = tier;
    found.tierLacksBytes = bytes - double(tier->memory_bytes());
  };
  const bool isOne = stateTier_ == keptTier_;
  add(stateTier_, found.lowStateBytes + (isOne ? found.lowKeptBytes : 0));
  add(isOne ? nullptr : keptTier_, found.lowKeptBytes);
  return found;
}

absl::StatusOr<Estimate> Estimates::below(const Choice &choice, Recompute::Policy policy, double limit, double memory,
                                          int measured) {
  constexpr int kParts = 8;
  Profiles &profiles = profilesOf(choice);
  const absl::StatusOr<Profile> &below = profiles.of(stageJob(choice, policy, /*below=*/true)),
                                &here = profiles.of(stageJob(choice, policy));
  if (!below.ok() || !here.ok())
    return below.ok() ? here.status() : below.status();
  int least = 1, most = kParts;
  WEFT_ASSIGN_OR_RETURN(Estimate best, of(choice, partlyBelow(*here, *below, 1), limit, measured));
  while (least < most && best.bytes <= memory) {
    const int parts = (least + most) / 2;
    WEFT_ASSIGN_OR_RETURN(Estimate some,
                          of(choice, partlyBelow(*here, *below, double(parts) / kParts), limit, measured));
    const bool fits = some.bytes <= memory;
    (fits ? most : least) = fits ? parts : parts + 1;
    best = fits ? std::move(some) : std::move(best);
  }
  return best;
}

void Estimates::goBelow(const Choice &choice, double memory, double most_s, int measured, Point &point) {
  for (Recompute::Policy policy : {Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL}) {
    const absl::StatusOr<Estimate> here = with(choice, policy, kNoLimit, measured);
    if (!here.ok() || here->bytes <= memory || here->step_s >= most_s ||
        (point.fits && here->step_s >= point.estimate.step_s))
      return;
    const absl::StatusOr<Estimate> low = below(choice, policy, kNoLimit, memory, measured);
    if (!low.ok())
      return;
    const Point other{choice, *low, low->fits(memory), {}, /*below=*/true};
    point = other < point ? other : point;
  }
}

} // namespace weft::compiler
