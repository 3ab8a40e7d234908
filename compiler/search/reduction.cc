#include "compiler/search/reduction.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compiler/search/sides.h"

namespace weft::search {
namespace {

// Labels are compared in pairs only where that looks at no more entries of a link than this. Example: an op with 49
// signatures of 9 states each, beside one of 25 states, needs 2,025.
constexpr int64_t kMostCompared = 1 << 18;

// Sweeps over all variables, at most; few problems need more than five.
constexpr int kMostSweeps = 50;

// Moves costs, see reduce().
class Reduction {
  using MovedSide = SideOf<Link>;

public:
  explicit Reduction(const Labelling &problem)
      : problem_(problem), moved_(problem), sides_(sidesOf<Link>(moved_.own.size(), moved_.links)) {
    for (const std::vector<Cost> &own : problem.own) {
      left_.emplace_back(own.size());
      std::iota(left_.back().begin(), left_.back().end(), 0);
    }
  }

  // Sweeps until the bound hardly rises. `best` are the best labels so far, and are made better.
  void run(std::vector<int> &best, Cost &cost) {
    Cost before = -1;
    for (int sweep = 0; sweep < kMostSweeps && bound_ < cost; ++sweep) {
      for (const bool forward : {true, false}) {
        std::vector<int> labels(left_.size(), -1);
        for (int i = 0; i < int(left_.size()); ++i) {
          const int v = forward ? i : int(left_.size()) - 1 - i;
          pull(v);
          labels[v] = choose(v, labels);
          drop(v, cost);
          push(v, forward);
        }
        descend(problem_, labels);
        if (const Cost now = costOf(problem_, labels); now < cost || best.empty()) {
          best = labels;
          cost = now;
        }
      }
      if (bound_ - before < cost / kHardly) {
        break;
      }
      before = bound_;
    }
    for (int v = 0; v < int(left_.size()); ++v) {
      pull(v);
      drop(v, cost);
    }
  }

  Cost bound() const { return std::min(kNever, bound_); }
  std::vector<std::vector<int>> left() const { return left_; }

private:
  static constexpr Cost kHardly = 1000; // a sweep that raises the bound by less than such a share is the last

  // What the neighbours have left, of one link.
  static std::vector<int> classesOf(const std::vector<int> &labels, const std::vector<int> &of) {
    std::vector<int> classes;
    for (int label : labels) {
      classes.push_back(of[label]);
    }
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    return classes;
  }

  // Takes out of the links what each label of `v` costs there at least, and then what all labels cost.
  void pull(int v) {
    std::vector<Cost> &own = moved_.own[v];
    for (const MovedSide &side : sides_[v]) {
      const std::vector<int> others = classesOf(left_[side.other()], side.otherClassOf());
      for (int mine : classesOf(left_[v], side.classOf())) {
        Cost least = kNever;
        for (int other : others) {
          least = std::min(least, side.cost(mine, other));
        }
        for (int other : others) {
          Cost &cost = side.cost(mine, other);
          cost = cost == kNever ? kNever : cost - least;
        }
        for (int label : left_[v]) {
          own[label] = side.classOf()[label] == mine ? plus(own[label], least) : own[label];
        }
      }
    }
    Cost least = kNever;
    for (int label : left_[v]) {
      least = std::min(least, own[label]);
    }
    bound_ = plus(bound_, least);
    for (int label : left_[v]) {
      own[label] = own[label] == kNever ? kNever : own[label] - least;
    }
  }

  // The label that is best beside those which other variables have.
  int choose(int v, const std::vector<int> &labels) const {
    Cost least = -1;
    int best = left_[v][0];
    for (int label : left_[v]) {
      Cost cost = moved_.own[v][label];
      for (const MovedSide &side : sides_[v]) {
        if (const int other = labels[side.other()]; other >= 0) {
          cost = plus(cost, side.cost(side.classOf()[label], side.otherClassOf()[other]));
        }
      }
      if (least < 0 || cost < least) {
        least = cost;
        best = label;
      }
    }
    return best;
  }

  void drop(int v, Cost cost) {
    std::vector<int> &left = left_[v];
    const auto isNeedless = [&](int label) { return plus(bound_, moved_.own[v][label]) > cost; };
    std::vector<int> kept;
    std::remove_copy_if(left.begin(), left.end(), std::back_inserter(kept), isNeedless);
    if (!kept.empty()) {
      left = std::move(kept);
    }
  }

  // Gives the links to variables that come next in this sweep equal parts of what the labels cost.
  void push(int v, bool forward) {
    std::vector<Cost> &own = moved_.own[v];
    const auto comesNext = [&](const MovedSide &side) { return forward == (side.other() > v); };
    const Cost next = std::count_if(sides_[v].begin(), sides_[v].end(), comesNext);
    const Cost parts = std::max(next, Cost(sides_[v].size()) - next);
    const std::vector<Cost> whole = own;
    for (const MovedSide &side : sides_[v]) {
      if (!comesNext(side)) {
        continue;
      }
      std::vector<Cost> part(1 + *std::max_element(side.classOf().begin(), side.classOf().end()), kNever);
      for (int label : left_[v]) {
        Cost &least = part[side.classOf()[label]];
        least = std::min(least, whole[label] == kNever ? kNever : whole[label] / parts);
      }
      for (int mine : classesOf(left_[v], side.classOf())) {
        for (int other : classesOf(left_[side.other()], side.otherClassOf())) {
          side.cost(mine, other) = plus(side.cost(mine, other), part[mine]);
        }
      }
      for (int label : left_[v]) {
        const Cost given = part[side.classOf()[label]];
        own[label] = own[label] == kNever || given == kNever ? own[label] : own[label] - given;
      }
    }
  }

  const Labelling &problem_;
  Labelling moved_;
  std::vector<std::vector<MovedSide>> sides_;
  std::vector<std::vector<int>> left_;
  Cost bound_ = 0;
};

// Drops labels that others replace, see reduce().
class Dominance {
public:
  Dominance(const Labelling &problem, std::vector<std::vector<int>> left)
      : problem_(problem), left_(std::move(left)), sides_(sidesOf<const Link>(left_.size(), problem.links)) {}

  std::vector<std::vector<int>> run() {
    std::vector<int> queue(left_.size());
    std::iota(queue.begin(), queue.end(), 0);
    while (!queue.empty()) {
      std::set<int> again;
      for (int v : queue) {
        if (thin(v)) {
          for (const Side &side : sides_[v]) {
            again.insert(side.other());
          }
        }
      }
      queue.assign(again.begin(), again.end());
    }
    return left_;
  }

private:
  // The least that class a of `side` costs more than class b, over what the neighbour has left; kNever if the
  // neighbour can only be with b, -kNever if it may be where b cannot.
  Cost leastMore(const Side &side, int a, int b, const std::vector<int> &others) const {
    Cost least = kNever;
    for (int other : others) {
      const Cost with = side.cost(a, other), without = side.cost(b, other);
      if (with < kNever) {
        least = without == kNever ? -kNever : std::min(least, with - without);
      }
      if (least == -kNever) {
        break;
      }
    }
    return least;
  }

  bool thin(int v) {
    if (left_[v].size() < 2) {
      return false;
    }
    // What is compared of each link: classes that this variable and its neighbour have left.
    std::vector<std::vector<int>> mine, others;
    std::vector<std::map<std::pair<int, int>, Cost>> more(sides_[v].size());
    int64_t compared = 0;
    for (const Side &side : sides_[v]) {
      const auto classesOf = [](const std::vector<int> &labels, const std::vector<int> &of) {
        std::set<int> classes;
        for (int label : labels) {
          classes.insert(of[label]);
        }
        return std::vector<int>(classes.begin(), classes.end());
      };
      mine.push_back(classesOf(left_[v], side.classOf()));
      others.push_back(classesOf(left_[side.other()], side.otherClassOf()));
      compared += int64_t(mine.back().size()) * int64_t(mine.back().size()) * int64_t(others.back().size());
    }
    if (compared > kMostCompared) {
      return false;
    }
    const auto isNeedless = [&](int a, int b) {
      const Cost ownA = problem_.own[v][a], ownB = problem_.own[v][b];
      if (ownA == kNever) {
        return true;
      }
      Cost sum = ownB == kNever ? -kNever : ownA - ownB;
      for (size_t s = 0; s < sides_[v].size() && sum > -kNever; ++s) {
        const Side &side = sides_[v][s];
        const int classA = side.classOf()[a], classB = side.classOf()[b];
        if (classA == classB) {
          continue;
        }
        auto [it, added] = more[s].try_emplace({classA, classB}, 0);
        if (added) {
          it->second = leastMore(side, classA, classB, others[s]);
        }
        if (it->second == kNever) {
          return true; // a cannot be
        }
        sum = it->second == -kNever ? -kNever : sum + it->second;
      }
      return sum > 0 || (sum == 0 && b < a);
    };
    const size_t before = left_[v].size();
    std::vector<bool> gone(problem_.own[v].size(), false);
    for (int a : left_[v]) {
      gone[a] =
          std::any_of(left_[v].begin(), left_[v].end(), [&](int b) { return b != a && !gone[b] && isNeedless(a, b); });
    }
    left_[v].erase(std::remove_if(left_[v].begin(), left_[v].end(), [&](int a) { return gone[a]; }), left_[v].end());
    return left_[v].size() < before;
  }

  const Labelling &problem_;
  std::vector<std::vector<int>> left_;
  std::vector<std::vector<Side>> sides_;
};

} // namespace

void descend(const Labelling &problem, std::vector<int> &labels) {
  const std::vector<std::vector<Side>> sides = sidesOf<const Link>(labels.size(), problem.links);
  const auto around = [&](int v, int label) {
    Cost cost = problem.own[v][label];
    for (const Side &side : sides[v]) {
      cost = plus(cost, side.cost(side.classOf()[label], side.otherClassOf()[labels[side.other()]]));
    }
    return cost;
  };
  bool changed = true;
  for (int sweep = 0; sweep < kMostSweeps && changed; ++sweep) {
    changed = false;
    for (int v = 0; v < int(labels.size()); ++v) {
      Cost least = around(v, labels[v]);
      for (int label = 0; label < int(problem.own[v].size()); ++label) {
        if (const Cost cost = around(v, label); cost < least) {
          least = cost;
          labels[v] = label;
          changed = true;
        }
      }
    }
  }
}

Reduced reduce(const Labelling &problem) {
  Reduced reduced{{}, {{}, kNever, 0}};
  Reduction reduction(problem);
  reduction.run(reduced.best.labels, reduced.best.cost);
  reduced.best.bound = std::min(reduction.bound(), reduced.best.cost);
  reduced.left = Dominance(problem, reduction.left()).run();
  return reduced;
}

} // namespace weft::search
