#include "compiler/search/labelling.h"

#include <algorithm>
#include <queue>

#include "compiler/search/elimination.h"
#include "compiler/search/reduction.h"
#include "compiler/search/sides.h"

namespace weft::search {
namespace {

// Some variables fixed, and a bound of what that costs.
struct Open {
  Cost bound = 0;
  int64_t number = 0; // in which order they came
  std::vector<std::pair<int, int>> fixed;
  bool operator<(const Open &other) const { // the last one is best
    return std::pair(bound, number) > std::pair(other.bound, other.number);
  }
};

} // namespace

Cost costOf(const Labelling &problem, const std::vector<int> &labels) {
  Cost cost = 0;
  for (size_t v = 0; v < labels.size(); ++v) {
    cost = plus(cost, problem.own[v][labels[v]]);
  }
  for (const Link &link : problem.links) {
    cost =
        plus(cost, Side{&link, true}.cost(link.firstClass[labels[link.first]], link.secondClass[labels[link.second]]));
  }
  return cost;
}

Labels solve(const Labelling &problem, const Effort &effort) {
  auto [all, best] = reduce(problem);
  std::priority_queue<Open> open;
  open.push({best.bound, 0, {}});
  int64_t work = 0, number = 0;
  while (!open.empty() && open.top().bound < best.cost && (number == 0 || work < effort.work)) {
    const Open now = open.top();
    open.pop();
    std::vector<std::vector<int>> left = all;
    for (auto [v, label] : now.fixed) {
      left[v] = {label};
    }
    Elimination elimination(problem, left, effort);
    const Cost bound = std::max(now.bound, elimination.run());
    work += elimination.work();
    if (bound >= best.cost && !best.labels.empty()) {
      continue;
    }
    std::vector<int> labels = elimination.labels();
    if (elimination.split() >= 0) {
      descend(problem, labels);
    }
    if (const Cost cost = costOf(problem, labels); cost < best.cost || best.labels.empty()) {
      best.labels = std::move(labels);
      best.cost = cost;
    }
    if (elimination.split() >= 0 && bound < best.cost) {
      for (int label : left[elimination.split()]) {
        Open next{bound, ++number, now.fixed};
        next.fixed.push_back({elimination.split(), label});
        open.push(std::move(next));
      }
    }
    number += 1;
  }
  best.bound = open.empty() ? best.cost : std::min(best.cost, open.top().bound);
  return best;
}

} // namespace weft::search
