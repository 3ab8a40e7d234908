#include "tools/run/slow_ranks.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/checkpoint/host_and_time.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/program.h"

namespace weft::run {
namespace {

// Example: one of eight ranks on a GPU that is too hot, at 1.2 GHz instead of 1.7, takes 1.4 times as long. Ranks that
// nothing is wrong with differ by some percent.
constexpr double kSlow = 1.25;

// Whose ranks have unlike work: of a sequence the last ones see more keys, of experts some are asked more often.
constexpr const char* kUnevenAxes[] = {"context", "expert"};

// Whether an actor computes, and waits for nobody.
bool Computes(const plan::Actor& actor) { return actor.kernels_size() > 0 && !plan::HasPort(actor); }

// The ranks of a placement, those together that have the same coordinates on the uneven axes.
std::vector<std::vector<int>> AlikeOf(const plan::Placement& placement) {
  std::map<std::vector<int64_t>, std::vector<int>> groups;
  for (int i = 0; i < placement.ranks_size(); ++i) {
    const std::vector<int64_t> coordinates = plan::Coordinates(placement, i);
    std::vector<int64_t> uneven;
    for (const char* name : kUnevenAxes) {
      for (int a = 0; a < placement.axes_size(); ++a) {
        if (placement.axes(a).name() == name) uneven.push_back(coordinates[a]);
      }
    }
    groups[uneven].push_back(placement.ranks(i));
  }
  std::vector<std::vector<int>> alike;
  for (auto& [uneven, ranks] : groups) alike.push_back(std::move(ranks));
  return alike;
}

// Of an even number the mean of the two in the middle.
double MedianOf(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

// By actor of this process's ranks.
std::vector<int64_t> BusyOf(executor::Executor& executor) {
  std::vector<int64_t> busy;
  for (int a = 0; a < executor.program().stage->actors_size(); ++a) busy.push_back(executor.actors().busy_ns(a));
  return busy;
}

// As it is sent: for each rank its number, how many actors it has, and their times.
std::string WordOf(executor::Cluster& cluster, const std::vector<std::vector<int64_t>>& times) {
  std::vector<int64_t> numbers;
  for (int i = 0; i < cluster.size(); ++i) {
    numbers.push_back(cluster.executor(i).rank());
    numbers.push_back(static_cast<int64_t>(times[i].size()));
    numbers.insert(numbers.end(), times[i].begin(), times[i].end());
  }
  std::string word(numbers.size() * sizeof(int64_t), '\0');
  std::memcpy(word.data(), numbers.data(), word.size());
  return absl::StrCat(checkpoint::HostName(), "\n", word);
}

}  // namespace

BusyTimes::BusyTimes(executor::Cluster& cluster) : cluster_(cluster) {
  for (int i = 0; i < cluster.size(); ++i) before_.push_back(BusyOf(cluster.executor(i)));
  taken_ = before_;
}

void BusyTimes::Take() {
  for (int i = 0; i < cluster_.size(); ++i) {
    std::vector<int64_t> now = BusyOf(cluster_.executor(i));
    for (size_t a = 0; a < now.size(); ++a) taken_[i][a] = now[a] - before_[i][a];
    before_[i] = std::move(now);
  }
}

absl::StatusOr<std::vector<RankTimes>> BusyTimes::Gather(Processes& processes) const {
  const auto words = processes.AllGather(WordOf(cluster_, taken_));
  if (!words.ok()) return words.status();
  std::vector<RankTimes> all;
  for (const std::string& word : *words) {
    const size_t end_of_host = word.find('\n');
    std::vector<int64_t> numbers((word.size() - end_of_host - 1) / sizeof(int64_t));
    std::memcpy(numbers.data(), word.data() + end_of_host + 1, numbers.size() * sizeof(int64_t));
    for (size_t at = 0; at + 1 < numbers.size();) {
      const auto rank = static_cast<size_t>(numbers[at]), actors = static_cast<size_t>(numbers[at + 1]);
      if (all.size() <= rank) all.resize(rank + 1);
      const auto begin = numbers.begin() + static_cast<int64_t>(at) + 2;
      all[rank] = {word.substr(0, end_of_host), {begin, begin + static_cast<int64_t>(actors)}};
      at += 2 + actors;
    }
  }
  return all;
}

SlowRanks::SlowRanks(const plan::Plan& plan, int64_t step) : plan_(plan), last_(step) {
  for (int s = 0; s < plan.stages_size(); ++s) {
    for (std::vector<int>& ranks : AlikeOf(plan.placements(plan.stages(s).placement()))) {
      alike_.push_back(std::move(ranks));
      stages_.push_back(s);
    }
  }
}

bool SlowRanks::compares() const {
  return std::any_of(alike_.begin(), alike_.end(), [](const std::vector<int>& ranks) { return ranks.size() > 1; });
}

std::vector<trace::SlowRank> SlowRanks::Find(int64_t step, const std::vector<RankTimes>& times) {
  std::vector<trace::SlowRank> found;
  std::map<int, int64_t> since;
  for (size_t g = 0; g < alike_.size(); ++g) {
    const plan::Stage& stage = plan_.stages(stages_[g]);
    // Of a rank, in the actors from `first` to `last`.
    const auto busy = [&](int rank, int first, int last) {
      double sum = 0;
      for (int a = first; a <= last; ++a) {
        if (Computes(stage.actors(a))) sum += static_cast<double>(times[rank].busy_ns[a]);
      }
      return sum;
    };
    const auto others = [&](int rank, int first, int last) {
      std::vector<double> numbers;
      for (int other : alike_[g]) {
        if (other != rank) numbers.push_back(busy(other, first, last));
      }
      return numbers.empty() ? 0 : MedianOf(std::move(numbers));
    };
    const int end = stage.actors_size() - 1;
    for (int rank : alike_[g]) {
      const double usual = others(rank, 0, end);
      if (usual <= 0 || busy(rank, 0, end) < kSlow * usual) continue;
      int worst = 0;
      const auto excess = [&](int a) { return busy(rank, a, a) - others(rank, a, a); };
      for (int a = 1; a <= end; ++a) {
        if (excess(a) > excess(worst)) worst = a;
      }
      const auto before = since_.find(rank);
      since[rank] = before != since_.end() ? before->second : last_ + 1;
      found.push_back({.step = step,
                       .rank = rank,
                       .host = times[rank].host,
                       .times = busy(rank, 0, end) / usual,
                       .since = since[rank],
                       .actor = stage.actors(worst).name(),
                       .actor_times = busy(rank, worst, worst) / std::max(others(rank, worst, worst), 1.0)});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.times > b.times; });
  since_ = std::move(since);
  last_ = step;
  return found;
}

std::string TextOf(const trace::SlowRank& slow) {
  return absl::StrFormat("rank %d (host %s) takes %.2f x the others' compute since step %d, most of it in `%s`, %.2f x",
                         slow.rank, slow.host, slow.times, slow.since, slow.actor, slow.actor_times);
}

}  // namespace weft::run
