#include "compiler/passes/shard/next_best.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/passes/shard/copies.h"

namespace weft::compiler {

using ir::SbpState;

namespace {

// How many of the trials for a box, the cheapest first, are searched thoroughly. All of them would find the least for
// 604 of 645 boxes of small random graphs instead of 570 (next_best_test), but compiling GPT-2 1.5B for 8 x 8 ranks
// would take a quarter more instructions.
constexpr size_t kThoroughly = 2;

// What tells two values of a folded problem apart: who makes it, or as what it comes, and who reads it. Results of
// copies are alike in all else (copies.h).
std::vector<double> keyOf(const SolverValue &value, const FoldedProblem &folded) {
  std::vector<double> key;
  if (value.producer >= 0) {
    key = {double(folded.nodeOf[value.producer]), double(value.result)};
  } else {
    key = {-1.0,
           value.bytes,
           double(value.free),
           double(value.keepSplit),
           double(value.keepState),
           double(value.overlapped),
           double(value.fixed.kind),
           double(value.fixed.dim)};
  }
  std::set<std::pair<int, int>> readers;
  for (SolverValue::Use use : value.uses) {
    readers.insert({folded.nodeOf[use.node], use.operand});
  }
  for (auto [node, operand] : readers) {
    key.insert(key.end(), {double(node), double(operand)});
  }
  return key;
}

// The choices of a folded problem in which some of its nodes have to do without some candidates.
class Alternatives {
public:
  Alternatives(FoldedProblem &problem, const plan::Spread &axis, const CostModel &machine)
      : problem_(problem), unweighed_(unweighed(problem.values)), solver_(problem.nodes, problem.values, axis, machine),
        seconds_(problem.nodes, unweighed_, axis, machine) {
    for (const SolverNode &node : problem_.nodes) {
      chosen_.push_back(node.choice);
    }
  }

  // The state of a value as it is made.
  SbpState made(const SolverValue &value) const {
    if (value.producer < 0) {
      return value.fixed;
    }
    const SolverNode &node = problem_.nodes[value.producer];
    return node.candidates[node.choice]->results[value.result];
  }

  SbpState wanted(SolverValue::Use use) const {
    const SolverNode &node = problem_.nodes[use.node];
    return node.candidates[node.choice]->operands[use.operand];
  }

  // Of a value that is boxed to `to`.
  NextBest of(const SolverValue &value, SbpState to) {
    best_ = {};
    bestWeighed_ = 0;
    std::vector<SolverValue::Use> readers;
    for (SolverValue::Use use : value.uses) {
      if (wanted(use) == to) {
        readers.push_back(use);
      }
    }
    found_.clear();
    again_.clear();
    visit(value, readers, to);
    // The best of all once more, thoroughly.
    std::sort(found_.begin(), found_.end());
    for (size_t i = 0; i < found_.size() && i < kThoroughly; ++i) {
      again_.insert(found_[i].second);
    }
    visit(value, readers, to);
    return best_;
  }

private:
  static std::vector<SolverValue> unweighed(std::vector<SolverValue> values) {
    for (SolverValue &value : values) {
      value.keepSplit = value.keepState = false;
    }
    return values;
  }

  void visit(const SolverValue &value, const std::vector<SolverValue::Use> &readers, SbpState to) {
    trial_ = 0;
    if (value.producer >= 0) {
      makeOtherwise(value, readers);
    }
    readOtherwise(value, readers, to);
  }

  void makeOtherwise(const SolverValue &value, const std::vector<SolverValue::Use> &readers) {
    const SbpState from = made(value);
    const SolverNode &producer = problem_.nodes[value.producer];
    std::set<SbpState> states;
    for (const ir::Signature *s : producer.candidates) {
      states.insert(s->results[value.result]);
    }
    states.erase(from);
    if (states.size() != 1) {
      states.insert(from); // stands for any other
    }
    for (SbpState state : states) {
      const bool possible = forbid(value.producer, [&](const ir::Signature &s) {
        return (s.results[value.result] == state) == (state == from);
      });
      tryIf(possible, value, readers, problem_.copies[value.producer]);
    }
  }

  void readOtherwise(const SolverValue &value, const std::vector<SolverValue::Use> &readers, SbpState to) {
    std::set<SbpState> states;
    double tensors = value.count; // that are read as this one is
    for (SolverValue::Use use : readers) {
      for (const ir::Signature *s : problem_.nodes[use.node].candidates) {
        states.insert(s->operands[use.operand]);
      }
      double read = 0;
      for (int v : problem_.nodes[use.node].operands) {
        const std::vector<SolverValue::Use> &uses = problem_.values[v].uses;
        const bool reads = std::any_of(uses.begin(), uses.end(), [&](SolverValue::Use other) {
          return other.node == use.node && other.operand == use.operand;
        });
        read += reads ? problem_.values[v].count : 0;
      }
      tensors = std::max(tensors, read);
    }
    if (states.size() == 2) {
      states.erase(to);
    }
    // `to` stands for any other.
    for (SbpState state : states) {
      bool possible = true;
      for (SolverValue::Use use : readers) {
        const SolverNode &node = problem_.nodes[use.node];
        const std::vector<int> &left = solver_.allowed(use.node);
        // In this state, where the reader can; else in any but `to`.
        const bool can = state != to && std::any_of(left.begin(), left.end(), [&](int c) {
                           return node.candidates[c]->operands[use.operand] == state;
                         });
        possible &= forbid(use.node, [&](const ir::Signature &s) {
          return can ? s.operands[use.operand] != state : s.operands[use.operand] == to;
        });
      }
      tryIf(possible, value, readers, tensors);
    }
  }

  // Takes candidates from a node; false if none is left.
  template <typename Predicate> bool forbid(int index, Predicate &&isForbidden) {
    saved_.push_back({index, solver_.allowed(index)});
    std::vector<int> left;
    for (int c : saved_.back().allowed) {
      if (!isForbidden(*problem_.nodes[index].candidates[c])) {
        left.push_back(c);
      }
    }
    const bool isPossible = !left.empty();
    solver_.allow(index, std::move(left));
    return isPossible;
  }

  // If that is possible, searches among the candidates that are left and keeps what is better than the best. Restores
  // all.
  void tryIf(bool possible, const SolverValue &value, const std::vector<SolverValue::Use> &readers, double tensors) {
    const int trial = trial_++;
    if (!possible || (!again_.empty() && again_.count(trial) == 0)) {
      restore();
      return;
    }
    std::vector<int> forced;
    for (const Saved &saved : saved_) {
      forced.push_back(saved.node);
    }
    solver_.improveAround(forced, /*thoroughly=*/!again_.empty());
    for (int n = 0; n < int(chosen_.size()); ++n) {
      if (problem_.nodes[n].choice != chosen_[n]) {
        forced.push_back(n);
      }
    }
    std::sort(forced.begin(), forced.end());
    forced.erase(std::unique(forced.begin(), forced.end()), forced.end());
    const SbpState made = this->made(value), read = wanted(readers.front());
    double weighed = solver_.secondsAround(forced), seconds = seconds_.secondsAround(forced);
    restore();
    weighed = (weighed - solver_.secondsAround(forced)) / tensors;
    seconds = (seconds - seconds_.secondsAround(forced)) / tensors;
    if (std::isfinite(weighed) && again_.empty()) {
      found_.push_back({weighed, trial});
    }
    if (std::isfinite(weighed) && (!best_.exists || weighed < bestWeighed_)) {
      bestWeighed_ = weighed;
      best_ = {true, made, read, seconds, weighed > seconds + std::abs(seconds) * 1e-6 + 1e-12};
    }
  }

  void restore() {
    for (auto it = saved_.rbegin(); it != saved_.rend(); ++it) {
      solver_.allow(it->node, std::move(it->allowed));
    }
    saved_.clear();
    for (size_t n = 0; n < chosen_.size(); ++n) {
      problem_.nodes[n].choice = chosen_[n];
    }
  }

  struct Saved {
    int node;
    std::vector<int> allowed;
  };

  FoldedProblem &problem_;
  const std::vector<SolverValue> unweighed_; // whose boxes cost their seconds alone
  Solver solver_, seconds_;
  std::vector<int> chosen_;
  std::vector<Saved> saved_;
  NextBest best_;
  double bestWeighed_ = 0;
  int trial_ = 0;
  std::vector<std::pair<double, int>> found_; // what trials cost, and which
  std::set<int> again_;
};

} // namespace

FoldedProblem fold(const std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values) {
  FoldedProblem folded;
  std::vector<int> classOf(nodes.size());
  const std::vector<std::vector<int>> classes = copiesOf(nodes, values);
  for (size_t c = 0; c < classes.size(); ++c) {
    for (int n : classes[c]) {
      classOf[n] = int(c);
    }
  }
  std::map<std::pair<int, int>, int> known; // by class and choice
  for (int n = 0; n < int(nodes.size()); ++n) {
    auto [it, added] = known.try_emplace({classOf[n], nodes[n].choice}, int(folded.nodes.size()));
    folded.nodeOf.push_back(it->second);
    if (!added) {
      ++folded.copies[it->second];
      continue;
    }
    folded.nodes.push_back(nodes[n]);
    folded.nodes.back().operands.clear();
    folded.nodes.back().results.clear();
    folded.copies.push_back(1);
  }
  for (size_t n = 0; n < folded.nodes.size(); ++n) {
    folded.nodes[n].weight *= folded.copies[n];
  }
  std::map<std::vector<double>, int> places;
  for (const SolverValue &value : values) {
    auto [it, added] = places.try_emplace(keyOf(value, folded), int(folded.values.size()));
    folded.valueOf.push_back(it->second);
    if (!added) {
      ++folded.values[it->second].count;
      continue;
    }
    SolverValue &one = folded.values.emplace_back(value);
    if (one.producer >= 0) {
      one.producer = folded.nodeOf[one.producer];
      folded.nodes[one.producer].results.push_back(it->second);
    }
    std::set<std::pair<int, int>> readers;
    for (SolverValue::Use use : value.uses) {
      readers.insert({folded.nodeOf[use.node], use.operand});
    }
    one.uses.clear();
    for (auto [node, operand] : readers) {
      one.uses.push_back({node, operand});
      std::vector<int> &operands = folded.nodes[node].operands;
      if (operands.empty() || operands.back() != it->second) {
        operands.push_back(it->second);
      }
    }
  }
  return folded;
}

std::map<std::pair<int, SbpState>, NextBest> nextBests(const std::vector<SolverNode> &nodes,
                                                       const std::vector<SolverValue> &values, const plan::Spread &axis,
                                                       const CostModel &machine) {
  FoldedProblem folded = fold(nodes, values);
  Alternatives alternatives(folded, axis, machine);
  std::map<std::pair<int, SbpState>, NextBest> ofFolded, all;
  for (int v = 0; v < int(folded.values.size()); ++v) {
    const SolverValue &value = folded.values[v];
    if (value.free) {
      continue;
    }
    for (SolverValue::Use use : value.uses) {
      const SbpState to = alternatives.wanted(use);
      if (to != alternatives.made(value) && ofFolded.count({v, to}) == 0) {
        ofFolded[{v, to}] = alternatives.of(value, to);
      }
    }
  }
  for (int v = 0; v < int(values.size()); ++v) {
    for (auto it = ofFolded.lower_bound({folded.valueOf[v], SbpState()});
         it != ofFolded.end() && it->first.first == folded.valueOf[v]; ++it) {
      all[{v, it->first.second}] = it->second;
    }
  }
  return all;
}

} // namespace weft::compiler
