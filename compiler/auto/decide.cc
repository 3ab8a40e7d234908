#include "compiler/auto/decide.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/auto/conflicts.h"
#include "compiler/auto/search.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/model_source.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/names.h"

namespace weft::compiler {
namespace {

// What lies below the device beyond what the job says, as keys of it.
struct Below {
  Zero::Offload state = Zero::NOTHING;
  bool kept = false, byHost = false;

  std::string keys() const {
    return absl::StrCat(state != Zero::NOTHING ? absl::StrCat(" zero.offload=", Zero::Offload_Name(state)) : "",
                        byHost ? " zero.update=HOST" : "", kept ? " recompute.offload=true" : "");
  }
  void set(const Cluster &cluster, Job &job) const {
    if (state != Zero::NOTHING)
      job.mutable_zero()->set_offload(state);
    if (byHost)
      job.mutable_zero()->set_update(Zero::HOST);
    if (kept)
      job.mutable_recompute()->set_offload(true);
    ResolveTiers(cluster, &job);
  }
};

// Nothing but what the job says; then, where there is a tier, ever more of what it leaves open. Where recomputation is
// open as well, each search says whether what layers keep lies there.
std::vector<Below> waysDown(const Job &job, const Cluster &cluster) {
  std::vector<Below> ways = {{}};
  if (cluster.tier_size() == 0)
    return ways;
  const bool pinned = job.recompute().has_policy() && job.recompute().policy() != Recompute::AUTO;
  const auto add = [&](Zero::Offload state, bool kept) {
    Below below = ways.back();
    if (!job.zero().has_offload())
      below.state = state;
    if (!job.recompute().has_offload() && pinned)
      below.kept = kept;
    if (below.state != ways.back().state || below.kept != ways.back().kept)
      ways.push_back(below);
  };
  add(Zero::OPTIMIZER, false);
  add(Zero::OPTIMIZER, true);
  add(Zero::PARAMETERS, true);
  return ways;
}

// Whether the host may update what a job has below the device, and it does not say so or otherwise.
bool mayUpdateOnHost(const Job &job, const Cluster &cluster) {
  const Tier *tier = TierOfZero(cluster, job);
  return job.zero().offload() != Zero::NOTHING && !job.zero().has_update() && tier && tier->update_bytes_s() > 0;
}

// Of a way down, itself and the same with updates by the host, where that may be.
std::vector<Below> updatesOf(const Below &below, Job job, const Cluster &cluster) {
  below.set(cluster, job);
  std::vector<Below> ways = {below};
  if (mayUpdateOnHost(job, cluster)) {
    ways.push_back(below);
    ways.back().byHost = true;
  }
  return ways;
}

double secondsOf(const Decided &decided) { return decided.plan.prediction().step_s(); }

// Whether a step would be so much faster with any memory, by estimates of both, that copies to a tier may be worth a
// search of their own. Example: 1.00 s fits and 0.97 s does not.
bool memoryBinds(double unlimited_s, const Decided &decided) {
  constexpr double kWorth = 0.98;
  return unlimited_s > 0 && unlimited_s < kWorth * decided.plan.header().decision().best(0).estimated_s();
}

absl::Status nothingFits(int64_t memory, const Needed &needed) {
  const std::string tier = needed.tier.empty() ? ""
                                               : absl::StrCat(", and ", plan::BytesText(needed.tierLacks),
                                                              " more of tier `", needed.tier, "` than there is");
  return absl::ResourceExhaustedError(absl::StrCat(
      "graph.auto_parallel: expected a layout that fits ", plan::BytesText(memory), " a rank, got none: the least is ",
      plan::CountText(needed.bytes), " B (", plan::BytesText(needed.bytes), ")", tier, ", with ", needed.keys));
}

// So that they say all that a job needs.
void addKeys(const std::string &keys, plan::Decision &decision) {
  for (auto *list : {decision.mutable_best(), decision.mutable_refused()}) {
    for (plan::Alternative &alternative : *list)
      absl::StrAppend(alternative.mutable_keys(), keys);
  }
}

} // namespace

absl::StatusOr<Decided> decide(const CompileOptions &options, const DecideOptions &how) {
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<ModelSource> source,
                        ModelSource::read(LocateJob(options.job, options.jobFile)));
  WEFT_RETURN_IF_ERROR(checkKeys(options.job, options.cluster));
  CompileOptions less = options;
  const int64_t memory = plan::PlanBytesOf(options.cluster), reserve = options.job.auto_().reserve_bytes();
  if (options.cluster.device().memory_bytes() > 0 && reserve > 0) {
    if (reserve >= memory)
      return absl::InvalidArgumentError(
          absl::StrCat("auto.reserve_bytes: expected less than a plan may use of a rank (", plan::BytesText(memory),
                       "), got ", plan::BytesText(reserve)));
    Calibration &calibration = *less.cluster.mutable_calibration();
    calibration.set_device_kind(options.cluster.device().kind());
    calibration.set_reserve_bytes(calibration.reserve_bytes() + reserve);
  }
  std::optional<Needed> least;
  std::optional<Decided> best;
  double unlimited_s = std::numeric_limits<double>::infinity();
  for (const Below &level : waysDown(options.job, options.cluster)) {
    std::optional<Decided> here;
    for (const Below &below : updatesOf(level, options.job, options.cluster)) {
      less.job = options.job;
      below.set(less.cluster, less.job);
      if ((least || best) && how.progress)
        how.progress(absl::StrCat(best ? "memory binds" : "nothing fits", "; with", below.keys()));
      Learned learned;
      absl::StatusOr<Decided> decided = searchLayouts(less, how, *source, learned);
      const std::optional<Needed> &needed = learned.needed;
      if (decided.ok()) {
        addKeys(below.keys(), *decided->plan.mutable_header()->mutable_decision());
        unlimited_s = std::min(unlimited_s, learned.unlimited_s);
        if (!here || secondsOf(*decided) < secondsOf(*here))
          here = *std::move(decided);
      } else if (!needed) {
        if (best || here) // the search was ended before this way had a plan
          break;
        return decided;
      } else if (!least || needed->isLessThan(*least)) {
        least = *needed;
        absl::StrAppend(&least->keys, below.keys());
      }
    }
    const bool isBetter = here && (!best || secondsOf(*here) < secondsOf(*best));
    if (best && !isBetter)
      break;
    if (isBetter)
      best = std::move(here);
    if (best && (!memoryBinds(unlimited_s, *best) || (how.stop && how.stop->load())))
      break;
  }
  if (best)
    return *std::move(best);
  return nothingFits(plan::PlanBytesOf(less.cluster), *least);
}

} // namespace weft::compiler
