#include "compiler/pipeline/remedies.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/job/job.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {
namespace {

// No compilation begins when so much time is over.
constexpr std::chrono::seconds kPatience(5);

using Change = std::vector<std::string>; // overrides

struct Outcome {
  Change change;
  int64_t bytes = 0; // of the rank that needs most
  double step_s = 0;
};

int64_t mostBytes(const plan::Plan &plan) {
  int64_t most = 0;
  for (const plan::Stage &stage : plan.stages()) {
    most = std::max(most, int64_t(stage.arena_bytes()));
  }
  return most;
}

std::vector<Change> singleChanges(const Job &job) {
  std::vector<Change> changes;
  const bool none = job.recompute().policy() == Recompute::NONE;
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
  changes.push_back({absl::StrCat("dist.tensor=", 2 * job.dist().tensor())});
  changes.push_back({absl::StrCat("dist.pipeline=", 2 * std::max<int64_t>(job.dist().pipeline(), 1))});
  return changes;
}

// From little to all, each with what the one before has.
std::vector<Change> severalChanges(const Job &job) {
  std::vector<Change> changes;
  Change all;
  const auto add = [&](const std::string &change) {
    all.push_back(change);
    if (all.size() > 1) {
      changes.push_back(all);
    }
  };
  if (job.recompute().policy() != Recompute::FULL) {
    add("recompute.policy=FULL");
  }
  if (job.dist().data() > 1 && job.zero().stage() < 3) {
    add("zero.stage=3");
  }
  if (job.batch().micro() > job.dist().data()) {
    add(absl::StrCat("batch.micro=", job.dist().data()));
  }
  return changes;
}

class Search {
public:
  Search(const Job &job, const Cluster &cluster, const Planner &planner)
      : job_(job), machine_{plan::MachineOf(cluster)}, planner_(planner) {}

  // False when time is over.
  bool attempt(const std::vector<Change> &changes) {
    for (const Change &change : changes) {
      if (std::chrono::steady_clock::now() - begin_ > kPatience) {
        return false;
      }
      Job job = job_;
      const bool possible = std::all_of(change.begin(), change.end(),
                                        [&](const std::string &it) { return ApplyOverride(it, &job).ok(); });
      if (!possible || !ValidateJob(job).ok()) {
        continue;
      }
      if (absl::StatusOr<plan::Plan> plan = planner_(job); plan.ok() && plan::Validate(*plan).ok()) {
        outcomes_.push_back({change, mostBytes(*plan), stepOf(*plan)});
      }
    }
    return true;
  }

  double stepOf(const plan::Plan &plan) const {
    const absl::StatusOr<sim::Report> report = sim::Simulate(plan, machine_);
    return report.ok() ? report->step_s : 0;
  }

  std::vector<Outcome> outcomes_;

private:
  const Job &job_;
  const plan::Machine machine_;
  const Planner &planner_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string lineOf(const Outcome &outcome, double step_s) {
  std::string cost = step_s > 0 && outcome.step_s > 0
                         ? absl::StrFormat(", predicted step %s (%+.0f %%)", plan::SecondsText(outcome.step_s),
                                           100 * (outcome.step_s / step_s - 1))
                         : "";
  return absl::StrCat("\n  ", absl::StrJoin(outcome.change, " "), ": ", plan::BytesText(outcome.bytes), " a rank",
                      cost);
}

} // namespace

std::string remedies(const Job &job, const Cluster &cluster, const plan::Plan &plan, const Planner &planner) {
  Search search(job, cluster, planner);
  const double step_s = plan::Validate(plan).ok() ? search.stepOf(plan) : 0;
  const auto fits = [&](const Outcome &it) { return it.bytes <= cluster.device().memory_bytes(); };
  const auto any = [&] { return std::any_of(search.outcomes_.begin(), search.outcomes_.end(), fits); };
  if (search.attempt(singleChanges(job)) && !any()) {
    search.attempt(severalChanges(job));
  }
  std::vector<Outcome> &outcomes = search.outcomes_;
  if (outcomes.empty()) {
    return "";
  }
  if (!any()) {
    const auto nearest = std::min_element(outcomes.begin(), outcomes.end(),
                                          [](const Outcome &a, const Outcome &b) { return a.bytes < b.bytes; });
    return absl::StrCat("\nnothing tried makes it fit; nearest:", lineOf(*nearest, step_s));
  }
  outcomes.erase(std::remove_if(outcomes.begin(), outcomes.end(), [&](const Outcome &it) { return !fits(it); }),
                 outcomes.end());
  std::sort(outcomes.begin(), outcomes.end(), [](const Outcome &a, const Outcome &b) {
    return std::tie(a.step_s, a.bytes, a.change) < std::tie(b.step_s, b.bytes, b.change);
  });
  std::string text = step_s > 0
                         ? absl::StrCat("\nit would fit (predicted step now ", plan::SecondsText(step_s), ") with")
                         : "\nit would fit with";
  for (const Outcome &outcome : outcomes) {
    absl::StrAppend(&text, lineOf(outcome, step_s));
  }
  return text;
}

} // namespace weft::compiler
