#include "compiler/passes/shard/solver.h"

#include <algorithm>
#include <deque>

#include "compiler/analysis/boxing.h"

namespace weft::compiler {

using ir::SbpState;

namespace {
// Differences below this are rounding, not improvement.
constexpr double kEpsilon = 1e-12;
// How far a change may spread before it is judged.
constexpr size_t kRegion = 256;
constexpr int kSweeps = 16;
// A pinned split of a parameter is a wish for its memory too, that of a batch one for ranks that do not wait for each
// other within a micro-batch, and whole state one for no second copy of it beside the first: what goes against a wish
// counts as this many times its seconds.
constexpr double kWish = 1000;
// Of the seconds of a reduction beside the last backward, those that are not hidden by it.
constexpr double kExposed = 0.5;
} // namespace

SbpState Solver::stateOf(const SolverValue &value) const {
  if (value.producer < 0) {
    return value.fixed;
  }
  const SolverNode &node = nodes_[value.producer];
  return node.candidates[node.choice]->results[value.result];
}

double Solver::boxSeconds(const SolverValue &value, SbpState from, SbpState to) const {
  double seconds = transitionSeconds(from, to, value.bytes, axis_, machine_);
  if (value.still || (value.sticky && from.isSplit())) {
    return seconds * kWish;
  }
  return value.beside && from.isPartial() ? seconds * kExposed : seconds;
}

// One box for each distinct state that readers want, as often as the most frequent
// of them needs it; once B is there, the others may start from it.
double Solver::valueSeconds(int index) const {
  const SolverValue &value = values_[index];
  if (value.free) {
    return 0;
  }
  SbpState from = stateOf(value);
  llvm::SmallVector<std::pair<SbpState, double>, 4> wanted; // and how often
  bool broadcast = from.kind == SbpState::Broadcast;
  for (SolverValue::Use use : value.uses) {
    const SolverNode &node = nodes_[use.node];
    SbpState want = node.candidates[node.choice]->operands[use.operand];
    if (want == from) {
      continue;
    }
    auto known = llvm::find_if(wanted, [&](const auto &entry) { return entry.first == want; });
    if (known == wanted.end()) {
      wanted.push_back({want, node.moves[use.operand]});
      broadcast |= want.kind == SbpState::Broadcast;
    } else {
      known->second = std::max(known->second, node.moves[use.operand]);
    }
  }
  double seconds = 0;
  for (auto [want, weight] : wanted) {
    double cost = boxSeconds(value, from, want);
    if (broadcast && want.kind != SbpState::Broadcast) {
      cost = std::min(cost, transitionSeconds(SbpState::broadcast(), want, value.bytes, axis_, machine_));
    }
    seconds += cost * weight;
  }
  return seconds;
}

// Everything that depends on this node's choice.
double Solver::around(int index) const {
  const SolverNode &node = nodes_[index];
  double seconds = node.seconds[node.choice] * node.weight;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (std::find(node.operands.begin(), node.operands.begin() + i, node.operands[i]) == node.operands.begin() + i) {
      seconds += valueSeconds(node.operands[i]);
    }
  }
  for (int value : node.results) {
    seconds += valueSeconds(value);
  }
  return seconds;
}

double Solver::total() const {
  double seconds = 0;
  for (const SolverNode &node : nodes_) {
    seconds += node.seconds[node.choice] * node.weight;
  }
  for (size_t v = 0; v < values_.size(); ++v) {
    seconds += valueSeconds(int(v));
  }
  return seconds;
}

bool Solver::improve(int index, bool moveOnTie) {
  SolverNode &node = nodes_[index];
  if (node.candidates.size() == 1) {
    return false;
  }
  int before = node.choice, best = before;
  double bestSeconds = around(index);
  for (int c = 0; c < int(node.candidates.size()); ++c) {
    if (c == before) {
      continue;
    }
    node.choice = c;
    double seconds = around(index);
    if (seconds < bestSeconds - kEpsilon || (moveOnTie && best == before && seconds <= bestSeconds + kEpsilon)) {
      best = c;
      bestSeconds = std::min(bestSeconds, seconds);
    }
  }
  node.choice = best;
  return best != before;
}

void Solver::sweep() {
  for (int round = 0; round < kSweeps; ++round) {
    bool changed = false;
    for (int n = int(nodes_.size()) - 1; n >= 0; --n) {
      changed |= improve(n, false);
    }
    for (int n = 0; n < int(nodes_.size()); ++n) {
      changed |= improve(n, false);
    }
    if (!changed) {
      return;
    }
  }
}

std::vector<std::vector<int>> Solver::paths() const {
  std::vector<int> next(nodes_.size(), -1);
  std::vector<bool> follows(nodes_.size(), false);
  for (int n = 0; n < int(nodes_.size()); ++n) {
    int heaviest = -1;
    for (int v : nodes_[n].operands) {
      int producer = values_[v].producer;
      if (producer >= 0 && next[producer] < 0 && (heaviest < 0 || values_[v].bytes > values_[heaviest].bytes)) {
        heaviest = v;
      }
    }
    if (heaviest >= 0) {
      next[values_[heaviest].producer] = n;
      follows[n] = true;
    }
  }
  std::vector<std::vector<int>> paths;
  for (int n = 0; n < int(nodes_.size()); ++n) {
    if (!follows[n]) {
      std::vector<int> &path = paths.emplace_back();
      for (int at = n; at >= 0; at = next[at]) {
        path.push_back(at);
      }
    }
  }
  return paths;
}

// The value that leads from one node of a path to the next; -1 at its ends.
int Solver::link(const std::vector<int> &path, size_t position) const {
  if (position == 0 || position == path.size()) {
    return -1;
  }
  int heaviest = -1;
  for (int v : nodes_[path[position]].operands) {
    if (values_[v].producer == path[position - 1] && (heaviest < 0 || values_[v].bytes > values_[heaviest].bytes)) {
      heaviest = v;
    }
  }
  return heaviest;
}

// Everything that depends on the choices of these nodes.
double Solver::aroundAll(const std::vector<int> &nodes) const {
  double seconds = 0;
  std::vector<int> touched;
  for (int n : nodes) {
    seconds += nodes_[n].seconds[nodes_[n].choice] * nodes_[n].weight;
    touched.insert(touched.end(), nodes_[n].operands.begin(), nodes_[n].operands.end());
    touched.insert(touched.end(), nodes_[n].results.begin(), nodes_[n].results.end());
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (int v : touched) {
    seconds += valueSeconds(v);
  }
  return seconds;
}

// Chooses all nodes of a path at once, the others as they are: the shortest way through a trellis of candidates
// (Viterbi, "Error bounds for convolutional codes", 1967). Exact if the path touches itself nowhere else; where it
// does, the result is kept only if it is cheaper.
bool Solver::improvePath(const std::vector<int> &path) {
  std::vector<int> old;
  for (int n : path) {
    old.push_back(nodes_[n].choice);
  }
  double before = aroundAll(path);
  std::vector<std::vector<int>> came(path.size());
  std::vector<double> best;
  for (size_t i = 0; i < path.size(); ++i) {
    SolverNode &node = nodes_[path[i]];
    int in = link(path, i), out = link(path, i + 1);
    std::vector<double> seconds;
    for (node.choice = 0; node.choice < int(node.candidates.size()); ++node.choice) {
      double own = around(path[i]) - (in >= 0 ? valueSeconds(in) : 0) - (out >= 0 ? valueSeconds(out) : 0);
      int arg = 0;
      double least = 0;
      for (int c = 0; in >= 0 && c < int(best.size()); ++c) {
        nodes_[path[i - 1]].choice = c;
        double sum = best[c] + valueSeconds(in);
        if (c == 0 || sum < least - kEpsilon) {
          arg = c;
          least = sum;
        }
      }
      if (in >= 0) {
        nodes_[path[i - 1]].choice = old[i - 1];
      }
      seconds.push_back(own + least);
      came[i].push_back(arg);
    }
    node.choice = old[i];
    best = std::move(seconds);
  }
  int at = int(std::min_element(best.begin(), best.end()) - best.begin());
  for (size_t i = path.size(); i-- > 0; at = came[i][at]) {
    nodes_[path[i]].choice = at;
  }
  if (aroundAll(path) < before - kEpsilon) {
    return true;
  }
  for (size_t i = 0; i < path.size(); ++i) {
    nodes_[path[i]].choice = old[i];
  }
  return false;
}

// Single ops and whole paths, until neither improves.
void Solver::descend() {
  std::vector<std::vector<int>> all = paths();
  for (int round = 0; round < kSweeps; ++round) {
    sweep();
    bool changed = false;
    for (const std::vector<int> &path : all) {
      changed |= path.size() > 1 && improvePath(path);
    }
    if (!changed) {
      return;
    }
  }
  sweep();
}

void Solver::neighbours(int index, std::vector<int> &out) const {
  out.clear();
  for (int v : nodes_[index].operands) {
    if (values_[v].producer >= 0) {
      out.push_back(values_[v].producer);
    }
  }
  for (int v : nodes_[index].results) {
    for (SolverValue::Use use : values_[v].uses) {
      out.push_back(use.node);
    }
  }
}

// Gives `index` another signature and lets its neighbours follow, each at most
// once; keeps the result if it is cheaper as a whole.
bool Solver::tryRegion(int index, int candidate) {
  std::vector<std::pair<int, int>> undo{{index, nodes_[index].choice}};
  std::vector<int> seen{index}, near;
  double delta = -around(index);
  nodes_[index].choice = candidate;
  delta += around(index);
  std::deque<int> queue;
  neighbours(index, near);
  queue.insert(queue.end(), near.begin(), near.end());
  while (!queue.empty() && seen.size() < kRegion) {
    int at = queue.front();
    queue.pop_front();
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) {
      continue;
    }
    seen.push_back(at);
    int old = nodes_[at].choice;
    double before = around(at);
    if (!improve(at, /*moveOnTie=*/true)) {
      continue;
    }
    delta += around(at) - before;
    undo.push_back({at, old});
    neighbours(at, near);
    queue.insert(queue.end(), near.begin(), near.end());
  }
  if (delta < -kEpsilon) {
    return true;
  }
  for (auto [node, choice] : undo) {
    nodes_[node].choice = choice;
  }
  return false;
}

void Solver::solve() {
  // Start: in program order, each op as its operands come to it.
  for (int n = 0; n < int(nodes_.size()); ++n) {
    SolverNode &node = nodes_[n];
    double bestSeconds = 0;
    int best = -1;
    for (int c = 0; c < int(node.candidates.size()); ++c) {
      double seconds = node.seconds[c] * node.weight;
      for (size_t i = 0; i < node.operands.size(); ++i) {
        const SolverValue &value = values_[node.operands[i]];
        if (!value.free) {
          seconds += node.moves[i] * boxSeconds(value, stateOf(value), node.candidates[c]->operands[i]);
        }
      }
      if (best < 0 || seconds < bestSeconds - kEpsilon) {
        best = c;
        bestSeconds = seconds;
      }
    }
    node.choice = best;
  }
  descend();
  for (int round = 0; round < kSweeps; ++round) {
    bool changed = false;
    for (int n = 0; n < int(nodes_.size()); ++n) {
      for (int c = 0; c < int(nodes_[n].candidates.size()); ++c) {
        changed |= c != nodes_[n].choice && tryRegion(n, c);
      }
    }
    if (!changed) {
      return;
    }
    descend();
  }
}

} // namespace weft::compiler
