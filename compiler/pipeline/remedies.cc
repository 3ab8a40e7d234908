#include "compiler/pipeline/remedies.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {
namespace {

// What of the activations stays, by experience with GPT-2: the estimate only says what to try first.
constexpr double kSelective = 0.6, kFull = 0.25;
// Of a parameter in bfloat16 with a copy in float32: 2 of 6 bytes.
constexpr double kNarrow = 1.0 / 3;

struct Attempt {
  std::vector<std::string> change; // overrides
  double expected = 0;             // bytes of the rank that needs most, estimated
  int64_t bytes = 0;               // the same as compiled; 0: not tried, or impossible
  double step_s = 0;
  std::string why; // it was not tried, or no plan came of it
};

// Bytes at the peak of the rank that needs most, by what each change acts on.
struct Peak {
  double parameters = 0, gradients = 0, optimizer = 0, activations = 0;
  double sum() const { return parameters + gradients + optimizer + activations; }
};

Peak peakOf(const plan::Plan &plan) {
  Peak most;
  absl::StatusOr<std::vector<plan::StageMemory>> memory = plan::MeasureMemory(plan);
  for (const plan::StageMemory &stage : memory.ok() ? *memory : std::vector<plan::StageMemory>()) {
    const auto bytes = [&](plan::Category category) { return double(stage.at_peak[int(category)]); };
    Peak peak{bytes(plan::Category::kParameters), bytes(plan::Category::kGradients), bytes(plan::Category::kOptimizer),
              0};
    peak.activations = double(stage.lower_bound_bytes) - peak.sum();
    most = peak.sum() > most.sum() ? peak : most;
  }
  return most;
}

// What `peak` would become if `job` became `changed`.
double expectedBytes(Peak peak, const Job &job, const Job &changed) {
  const auto ratio = [](int64_t before, int64_t after) { return double(before) / double(std::max<int64_t>(after, 1)); };
  const double shared = double(job.zero().group() > 0 ? job.zero().group() : std::max<int64_t>(job.dist().data(), 1));
  for (auto [stage, bytes] : {std::pair(1, &peak.optimizer), {2, &peak.gradients}, {3, &peak.parameters}}) {
    *bytes /= job.zero().stage() < stage && changed.zero().stage() >= stage ? shared : 1;
    // Each stage of a pipeline has fewer layers, and works on more micro-batches at a time.
    *bytes *=
        ratio(job.dist().tensor(), changed.dist().tensor()) * ratio(job.dist().pipeline(), changed.dist().pipeline());
  }
  // What of it is on the device for an update, or for a layer, is little.
  if (job.zero().offload() != changed.zero().offload()) {
    peak.optimizer *= job.zero().offload() == Zero::NOTHING ? 0 : 1;
    peak.parameters *= changed.zero().offload() == Zero::PARAMETERS ? 0 : 1;
    peak.gradients *= changed.zero().offload() == Zero::PARAMETERS ? 0 : 1;
  }
  // Nor are the copies that the host updates, of which layers read narrow ones.
  if (job.zero().update() != changed.zero().update() && changed.zero().update() == Zero::HOST) {
    peak.parameters *= kNarrow;
  }
  peak.activations *= job.recompute().offload() == changed.recompute().offload() ? 1 : kFull;
  peak.activations *=
      ratio(job.dist().tensor(), changed.dist().tensor()) * ratio(changed.batch().micro(), job.batch().micro());
  if (job.recompute().policy() != changed.recompute().policy()) {
    peak.activations *= changed.recompute().policy() == Recompute::FULL ? kFull : kSelective;
  }
  return peak.sum();
}

std::vector<std::vector<std::string>> changesOf(const Job &job, const Cluster &cluster) {
  std::vector<std::vector<std::string>> changes;
  const bool none = job.recompute().policy() == Recompute::NONE, auto_ = job.recompute().policy() == Recompute::AUTO;
  if (none) {
    changes.push_back({"recompute.policy=SELECTIVE"});
  }
  if (none || job.recompute().policy() == Recompute::SELECTIVE) {
    changes.push_back({"recompute.policy=FULL"});
  }
  for (int64_t stage = job.zero().stage() + 1; stage <= 3 && job.dist().data() > 1; ++stage) {
    changes.push_back({absl::StrCat("zero.stage=", stage)});
  }
  if (job.batch().micro() % (2 * job.dist().data()) == 0) {
    changes.push_back({absl::StrCat("batch.micro=", job.batch().micro() / 2)});
  }
  const bool lowers = cluster.tier_size() > 0 && job.zero().offload() == Zero::NOTHING;
  const bool lowersAll = cluster.tier_size() > 0 && job.zero().offload() != Zero::PARAMETERS;
  if (lowers) {
    changes.push_back({"zero.offload=OPTIMIZER"});
  }
  if (lowersAll) {
    changes.push_back({"zero.offload=PARAMETERS"});
  }
  const Tier *tier = TierOfZero(cluster, job);
  if (tier && tier->update_bytes_s() > 0 && job.zero().update() != Zero::HOST) {
    std::vector<std::string> change = {"zero.update=HOST"};
    if (lowers) {
      change.insert(change.begin(), "zero.offload=OPTIMIZER");
    }
    changes.push_back(change);
  }
  if (cluster.tier_size() > 0 && !MayOffload(job.recompute())) {
    changes.push_back({"recompute.offload=true"});
  }
  changes.push_back({absl::StrCat("dist.tensor=", 2 * job.dist().tensor())});
  changes.push_back({absl::StrCat("dist.pipeline=", 2 * std::max<int64_t>(job.dist().pipeline(), 1))});
  // From little to all, each with what the one before has.
  std::vector<std::string> all;
  const auto add = [&](const std::string &change) {
    all.push_back(change);
    if (all.size() > 1) {
      changes.push_back(all);
    }
  };
  if (job.recompute().policy() != Recompute::FULL && !auto_) {
    add("recompute.policy=FULL");
  }
  if (job.dist().data() > 1 && job.zero().stage() < 3) {
    add("zero.stage=3");
  }
  if (job.batch().micro() > job.dist().data()) {
    add(absl::StrCat("batch.micro=", job.dist().data()));
  }
  if (lowersAll) {
    add("zero.offload=PARAMETERS");
  }
  return changes;
}

// The changes that the job can have, what saves most first, then those that it cannot have.
std::vector<std::pair<Attempt, Job>> attemptsOf(const Job &job, const Cluster &cluster, const plan::Plan &plan) {
  const Peak peak = peakOf(plan);
  std::vector<std::pair<Attempt, Job>> attempts;
  for (const std::vector<std::string> &change : changesOf(job, cluster)) {
    Job changed = job;
    absl::Status status;
    for (const std::string &setting : change) {
      status.Update(ApplyOverride(setting, &changed));
    }
    status.Update(ValidateJob(changed));
    status.Update(CheckOnCluster(changed, cluster));
    attempts.push_back({{change, expectedBytes(peak, job, changed), 0, 0, std::string(status.message())}, changed});
  }
  std::sort(attempts.begin(), attempts.end(), [](const auto &a, const auto &b) {
    return std::tuple(!a.first.why.empty(), a.first.expected, a.first.change) <
           std::tuple(!b.first.why.empty(), b.first.expected, b.first.change);
  });
  return attempts;
}

// Whether `attempt` is some other one that fits and takes no longer, and more.
bool isNeedless(const Attempt &attempt, const std::vector<Attempt> &fitting) {
  return std::any_of(fitting.begin(), fitting.end(), [&](const Attempt &other) {
    const bool less = other.change.size() < attempt.change.size() &&
                      std::all_of(
                          other.change.begin(), other.change.end(),
                          [&](const std::string &key) {
                            return std::find(attempt.change.begin(), attempt.change.end(), key) != attempt.change.end();
                          });
    return less && other.step_s <= attempt.step_s;
  });
}

std::string lineOf(const Attempt &attempt, double step_s) {
  const std::string change = absl::StrJoin(attempt.change, " ");
  if (attempt.bytes == 0) {
    return absl::StrCat("\n    ", change, ": ", attempt.why);
  }
  return absl::StrCat("\n    ", change, ": ", plan::BytesText(attempt.bytes), " a rank",
                      step_s > 0 && attempt.step_s > 0
                          ? absl::StrFormat(", predicted step %s (%+.0f %%)", plan::SecondsText(attempt.step_s),
                                            100 * (attempt.step_s / step_s - 1))
                          : "");
}

std::string linesOf(const std::string &head, const std::vector<Attempt> &attempts, double step_s) {
  std::string text = attempts.empty() ? "" : absl::StrCat("\n  ", head);
  for (const Attempt &attempt : attempts) {
    absl::StrAppend(&text, lineOf(attempt, step_s));
  }
  return text;
}

double stepOf(const plan::Plan &plan, const Cluster &cluster) {
  if (!plan::Validate(plan).ok()) {
    return 0;
  }
  const absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(cluster));
  return report.ok() ? report->step_s : 0;
}

} // namespace

std::string remedies(const Job &job, const Cluster &cluster, const plan::Plan &plan, Candidates &candidates,
                     int64_t work) {
  candidates.limit(work);
  std::vector<Attempt> fitting, larger, untried;
  for (auto &[attempt, changed] : attemptsOf(job, cluster, plan)) {
    absl::StatusOr<Summary> summary = absl::FailedPreconditionError(attempt.why);
    if (attempt.why.empty() && candidates.exhausted()) {
      summary = absl::ResourceExhaustedError("");
    } else if (attempt.why.empty()) {
      summary = candidates.compile(changed, /*predict=*/true);
    }
    if (summary.ok()) {
      attempt.bytes = *std::max_element(summary->stageBytes.begin(), summary->stageBytes.end());
      attempt.step_s = summary->step_s;
      (attempt.bytes <= plan::PlanBytesOf(cluster) ? fitting : larger).push_back(attempt);
      continue;
    }
    attempt.why = absl::IsResourceExhausted(summary.status())
                      ? absl::StrCat("some ", plan::BytesText(int64_t(attempt.expected)),
                                     " a rank by an estimate; compile it to know more")
                      : std::string(summary.status().message());
    untried.push_back(attempt);
  }
  fitting.erase(std::remove_if(fitting.begin(), fitting.end(),
                               [all = fitting](const Attempt &attempt) { return isNeedless(attempt, all); }),
                fitting.end());
  std::sort(fitting.begin(), fitting.end(), [](const Attempt &a, const Attempt &b) {
    return std::tie(a.step_s, a.bytes, a.change) < std::tie(b.step_s, b.bytes, b.change);
  });
  std::sort(larger.begin(), larger.end(), [](const Attempt &a, const Attempt &b) {
    return std::tie(a.bytes, a.change) < std::tie(b.bytes, b.change);
  });
  const double step_s = stepOf(plan, cluster);
  const std::string now = step_s > 0 ? absl::StrCat(" (predicted step now ", plan::SecondsText(step_s), ")") : "";
  return absl::StrCat(fitting.empty() && !larger.empty() ? absl::StrCat("\n  nothing tried makes it fit", now) : "",
                      linesOf(absl::StrCat("it would fit", now, " with"), fitting, step_s),
                      linesOf("tried, and too large, the nearest first", larger, step_s),
                      linesOf("not tried, or impossible", untried, step_s));
}

} // namespace weft::compiler
