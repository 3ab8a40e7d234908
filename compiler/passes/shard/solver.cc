#include "compiler/passes/shard/solver.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "compiler/passes/shard/copies.h"

namespace weft::compiler {

using ir::SbpState;

namespace {
// Differences below this are rounding, not improvement.
constexpr double kEpsilon = 1e-12;
// Rounds of a kind of move at most; each kind ends when nothing improves.
constexpr int kSweeps = 16;
// How far improveAround() changes a path, to either side of a node.
constexpr int kStretch = 16;
// As many of one value are neighbours of each other.
constexpr int kReaders = 12;
// Where more nodes than these are near, improveAround() does not try their candidates; of those that follow a
// candidate, it looks at no more. Without a limit it costs more than solve().
constexpr int kNear = 12;

// Ascending, each once.
void sortOut(std::vector<int> &numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}
} // namespace

SbpState Solver::stateOf(const SolverValue &value) const {
  if (value.producer < 0) {
    return value.fixed;
  }
  const SolverNode &node = nodes_[value.producer];
  return node.candidates[node.choice]->results[value.result];
}

Solver::Solver(std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values, const plan::Spread &axis,
               const CostModel &machine)
    : nodes_(nodes), values_(values), axis_(axis), machine_(machine), boxes_(nodes, values, axis, machine) {
  auto dependsOnChoice = [&](SolverValue::Use use) {
    const std::vector<const ir::Signature *> &candidates = nodes[use.node].candidates;
    return llvm::any_of(candidates, [&](const ir::Signature *s) {
      return s->operands[use.operand] != candidates[0]->operands[use.operand];
    });
  };
  for (const SolverNode &node : nodes) {
    std::iota(allowed_.emplace_back(node.candidates.size()).begin(), allowed_.back().end(), 0);
    touched_.push_back(node.results);
  }
  for (int v = 0; v < int(values.size()); ++v) {
    for (SolverValue::Use use : values[v].uses) {
      if (dependsOnChoice(use)) {
        touched_[use.node].push_back(v);
      }
    }
  }
  for (std::vector<int> &ofNode : touched_) {
    sortOut(ofNode);
  }
}

void Solver::allow(int node, std::vector<int> candidates) {
  nodes_[node].choice = candidates.empty() ? 0 : candidates.front();
  allowed_[node] = std::move(candidates);
}

// Everything that depends on this node's choice.
double Solver::around(int index) const {
  const SolverNode &node = nodes_[index];
  double seconds = node.seconds[node.choice] * node.weight;
  for (int value : touched_[index]) {
    seconds += boxes_.secondsOf(value);
  }
  return seconds;
}

double Solver::total() const {
  double seconds = 0;
  for (const SolverNode &node : nodes_) {
    seconds += node.seconds[node.choice] * node.weight;
  }
  for (size_t v = 0; v < values_.size(); ++v) {
    seconds += boxes_.secondsOf(int(v));
  }
  return seconds;
}

bool Solver::improve(int index) { return improve(index, /*orEqual=*/false) != 0; }

// Gives a node the best candidate, and says what that saves; `orEqual`: another one, if it is no worse. 0: it has none.
double Solver::improve(int index, bool orEqual) {
  SolverNode &node = nodes_[index];
  if (allowed_[index].size() == 1) {
    return 0;
  }
  int before = node.choice, best = before;
  const double present = around(index);
  double bestSeconds = present;
  for (int c : allowed_[index]) {
    if (c == before) {
      continue;
    }
    node.choice = c;
    double seconds = around(index);
    if (seconds < bestSeconds - kEpsilon || (orEqual && best == before && seconds <= bestSeconds + kEpsilon)) {
      best = c;
      bestSeconds = seconds;
    }
  }
  node.choice = best;
  return best == before ? 0 : std::max(present - bestSeconds, std::numeric_limits<double>::min());
}

// The nodes that make what a node reads, or read what it reads or makes; of what very many read only these.
std::vector<int> Solver::neighboursOf(int node) const {
  std::vector<int> all;
  for (const std::vector<int> *values : {&nodes_[node].operands, &nodes_[node].results}) {
    for (int v : *values) {
      if (values_[v].producer >= 0) {
        all.push_back(values_[v].producer);
      }
      if (int(values_[v].uses.size()) <= kReaders) {
        for (SolverValue::Use use : values_[v].uses) {
          all.push_back(use.node);
        }
      }
    }
  }
  sortOut(all);
  all.erase(std::remove(all.begin(), all.end(), node), all.end());
  return all;
}

// Improves these nodes, each once and for another choice that is no worse too, and then the neighbours of what has
// changed; adds what they had to `undo`. What that saves.
double Solver::follow(const std::vector<int> &nodes, std::vector<std::pair<int, int>> &undo, int most) {
  std::vector<bool> seen(nodes_.size(), false);
  for (auto [node, choice] : undo) {
    seen[node] = true;
  }
  std::deque<int> queue(nodes.begin(), nodes.end());
  double saved = 0;
  int visits = 0;
  for (; !queue.empty(); queue.pop_front()) {
    const int n = queue.front(), before = nodes_[n].choice;
    if (seen[n]) {
      continue;
    }
    if (visits++ == most) {
      break;
    }
    seen[n] = true;
    saved += improve(n, /*orEqual=*/true);
    if (nodes_[n].choice != before) {
      undo.push_back({n, before});
      queue.insert(queue.end(), around_[n].begin(), around_[n].end());
    }
  }
  return saved;
}

// Gives a node another candidate and lets its neighbours follow; false if that saves nothing.
bool Solver::tryAround(int index, int candidate) {
  SolverNode &node = nodes_[index];
  std::vector<std::pair<int, int>> undo{{index, node.choice}};
  double saved = around(index);
  node.choice = candidate;
  saved -= around(index);
  saved += follow(around_[index], undo, kNear);
  if (saved > kEpsilon) {
    return true;
  }
  for (auto [n, choice] : undo) {
    nodes_[n].choice = choice;
  }
  return false;
}

bool Solver::improveStretch(int node) {
  auto [p, at] = places_[node];
  const std::vector<int> &path = paths_[p];
  const int begin = std::max(at - kStretch, 0), end = std::min(at + kStretch + 1, int(path.size()));
  return improvePath({path.begin() + begin, path.begin() + end});
}

void Solver::prepare() {
  if (!places_.empty()) {
    return;
  }
  paths_ = paths();
  places_.assign(nodes_.size(), {-1, -1});
  for (int p = 0; p < int(paths_.size()); ++p) {
    for (int at = 0; at < int(paths_[p].size()); ++at) {
      places_[paths_[p][at]] = {p, at};
    }
  }
  for (int n = 0; n < int(nodes_.size()); ++n) {
    around_.push_back(neighboursOf(n));
  }
}

void Solver::improveAround(const std::vector<int> &nodes, bool thoroughly) {
  prepare();
  std::vector<std::pair<int, int>> changed;
  follow(nodes, changed, int(nodes_.size()));
  for (int n : nodes) {
    improveStretch(n);
  }
  if (!thoroughly) {
    return;
  }
  std::vector<int> near(nodes);
  for (auto [n, choice] : changed) {
    near.push_back(n);
  }
  for (size_t i = 0, end = near.size(); i < end; ++i) {
    near.insert(near.end(), around_[near[i]].begin(), around_[near[i]].end());
  }
  sortOut(near);
  if (int(near.size()) > kNear) {
    return;
  }
  for (int round = 0; round < kSweeps; ++round) {
    bool better = false;
    for (int n : near) {
      for (int c : allowed_[n]) {
        better |= nodes_[n].choice != c && tryAround(n, c);
      }
    }
    for (int n : nodes) {
      better |= improveStretch(n);
    }
    if (!better) {
      return;
    }
  }
}

void Solver::sweep() {
  for (int round = 0; round < kSweeps; ++round) {
    bool changed = false;
    for (int n = int(nodes_.size()) - 1; n >= 0; --n) {
      changed |= improve(n);
    }
    for (int n = 0; n < int(nodes_.size()); ++n) {
      changed |= improve(n);
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
      if (producer >= 0 && producer < n && next[producer] < 0 &&
          (heaviest < 0 || values_[v].bytes > values_[heaviest].bytes)) {
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

// The values whose boxes depend on the choices of these nodes, each once.
std::vector<int> Solver::valuesAround(const std::vector<int> &nodes) const {
  std::vector<int> values;
  for (int n : nodes) {
    values.insert(values.end(), touched_[n].begin(), touched_[n].end());
  }
  sortOut(values);
  return values;
}

// Everything that depends on the choices of these nodes, around which these values are.
double Solver::aroundAll(const std::vector<int> &nodes, const std::vector<int> &values) const {
  double seconds = 0;
  for (int n : nodes) {
    seconds += nodes_[n].seconds[nodes_[n].choice] * nodes_[n].weight;
  }
  for (int v : values) {
    seconds += boxes_.secondsOf(v);
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
  const std::vector<int> values = valuesAround(path);
  double before = aroundAll(path, values);
  std::vector<std::vector<int>> came(path.size());
  std::vector<double> best;
  // Of the value that comes from the node before, whose candidates make it in a few states: by its state.
  std::vector<std::optional<double>> inSeconds;
  const auto secondsIn = [&](int value) {
    const size_t made = size_t(boxes_.madeAs(value));
    inSeconds.resize(std::max(inSeconds.size(), made + 1));
    return inSeconds[made] ? *inSeconds[made] : inSeconds[made].emplace(boxes_.secondsOf(value));
  };
  for (size_t i = 0; i < path.size(); ++i) {
    SolverNode &node = nodes_[path[i]];
    int in = link(path, i), out = link(path, i + 1);
    std::vector<double> seconds;
    for (int own : allowed_[path[i]]) {
      node.choice = own;
      double ownSeconds =
          around(path[i]) - (in >= 0 ? boxes_.secondsOf(in) : 0) - (out >= 0 ? boxes_.secondsOf(out) : 0);
      int arg = 0;
      double least = 0;
      inSeconds.clear();
      for (int c = 0; in >= 0 && c < int(best.size()); ++c) {
        nodes_[path[i - 1]].choice = allowed_[path[i - 1]][c];
        double sum = best[c] + secondsIn(in);
        if (c == 0 || sum < least - kEpsilon) {
          arg = c;
          least = sum;
        }
      }
      if (in >= 0) {
        nodes_[path[i - 1]].choice = old[i - 1];
      }
      seconds.push_back(ownSeconds + least);
      came[i].push_back(arg);
    }
    node.choice = old[i];
    best = std::move(seconds);
  }
  int at = int(std::min_element(best.begin(), best.end()) - best.begin());
  for (size_t i = path.size(); i-- > 0; at = came[i][at]) {
    nodes_[path[i]].choice = allowed_[path[i]][at];
  }
  if (aroundAll(path, values) < before - kEpsilon) {
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

void Solver::findCopies() {
  std::vector<int> classOf(nodes_.size());
  copies_.clear();
  for (std::vector<int> &members : copiesOf(nodes_, values_)) {
    for (int n : members) {
      classOf[n] = int(copies_.size());
    }
    const std::vector<double> &seconds = nodes_[members[0]].seconds;
    copies_.push_back({members, valuesAround(members), {}, *std::min_element(seconds.begin(), seconds.end())});
  }
  for (Copies &copies : copies_) {
    for (int n : copies.nodes) {
      for (int v : nodes_[n].operands) {
        if (values_[v].producer >= 0) {
          copies.neighbours.push_back(classOf[values_[v].producer]);
        }
      }
      for (int v : nodes_[n].results) {
        for (SolverValue::Use use : values_[v].uses) {
          copies.neighbours.push_back(classOf[use.node]);
        }
      }
    }
    sortOut(copies.neighbours);
  }
  findAlike(classOf);
}

void Solver::findAlike(const std::vector<int> &classOf) {
  // The ops of a value, as classes: who makes it, and who reads it where.
  std::vector<std::vector<std::pair<int, int>>> ends(values_.size());
  for (size_t v = 0; v < values_.size(); ++v) {
    for (SolverValue::Use use : values_[v].uses) {
      ends[v].push_back({classOf[use.node], use.operand});
    }
    std::sort(ends[v].begin(), ends[v].end());
    ends[v].erase(std::unique(ends[v].begin(), ends[v].end()), ends[v].end());
    const int producer = values_[v].producer;
    ends[v].insert(ends[v].begin(), {producer < 0 ? -1 : classOf[producer], values_[v].result});
  }
  for (Copies &copies : copies_) {
    std::map<std::vector<double>, size_t> known;
    for (int v : copies.values) {
      std::vector<double> key = moveKey(values_[v]);
      for (auto [node, operand] : ends[v]) {
        key.insert(key.end(), {double(node), double(operand)});
        if (node >= 0) {
          copies.touched.push_back(node);
        }
      }
      auto [it, added] = known.try_emplace(std::move(key), copies.alike.size());
      if (added) {
        copies.alike.push_back({v, 0});
      }
      ++copies.alike[it->second].second;
    }
    sortOut(copies.touched);
  }
}

void Solver::setUniform(Copies &copies) const { copies.isUniform = haveAll(copies, nodes_[copies.nodes[0]].choice); }

double Solver::around(const Copies &copies) const {
  if (!copies.isUniform || !llvm::all_of(copies.touched, [&](int other) { return copies_[other].isUniform; })) {
    return aroundAll(copies.nodes, copies.values);
  }
  const SolverNode &node = nodes_[copies.nodes[0]];
  double seconds = node.seconds[node.choice] * node.weight * double(copies.nodes.size());
  for (auto [value, count] : copies.alike) {
    seconds += boxes_.secondsOf(value) * count;
  }
  return seconds;
}

// Gives all copies one signature.
void Solver::choose(Copies &copies, int candidate) {
  for (int n : copies.nodes) {
    nodes_[n].choice = candidate;
  }
  copies.isUniform = true;
}

bool Solver::haveAll(const Copies &copies, int candidate) const {
  return std::all_of(copies.nodes.begin(), copies.nodes.end(), [&](int n) { return nodes_[n].choice == candidate; });
}

// Gives all copies the signature that is best for them together, and adds what that changes of `present`, the seconds
// around them. False if each other one is worse than what they have.
bool Solver::improveTogether(Copies &copies, double &present) {
  std::vector<int> old;
  for (int n : copies.nodes) {
    old.push_back(nodes_[n].choice);
  }
  int best = -1;
  double bestSeconds = present;
  const int shared = haveAll(copies, old[0]) ? old[0] : -1;
  for (int c = 0; c < candidatesOf(copies); ++c) {
    if (c == shared) {
      continue;
    }
    choose(copies, c);
    double seconds = around(copies);
    if (seconds < bestSeconds - kEpsilon || (best < 0 && seconds <= bestSeconds + kEpsilon)) {
      best = c;
      bestSeconds = std::min(bestSeconds, seconds);
    }
  }
  for (size_t i = 0; i < old.size(); ++i) {
    nodes_[copies.nodes[i]].choice = best < 0 ? old[i] : best;
  }
  setUniform(copies);
  present = bestSeconds;
  return best >= 0;
}

// What a class takes more, itself, than it would with its fastest signature.
double Solver::excessOf(const Copies &copies) const {
  double seconds = 0;
  for (int n : copies.nodes) {
    const SolverNode &node = nodes_[n];
    seconds += (node.seconds[node.choice] - copies.fastest) * node.weight;
  }
  return seconds;
}

// All seconds but those that the ops would take with their fastest signatures.
double Solver::excess() const {
  double seconds = total();
  for (const Copies &copies : copies_) {
    for (int n : copies.nodes) {
      seconds -= copies.fastest * nodes_[n].weight;
    }
  }
  return seconds;
}

// Gives all copies of an op another signature and lets their neighbours follow, each class at most once; keeps the
// result if it is cheaper as a whole. `left`: what excess() is at present, which this adds its change to. What the
// classes that were visited have of it stays, so that nothing can be gained once that is all: where boxes cost nothing
// every neighbour would follow, for nothing.
bool Solver::tryRegion(int start, int candidate, double &left) {
  std::vector<std::pair<int, int>> undo; // nodes, and what they had
  std::vector<int> changed;
  std::vector<bool> seen(copies_.size(), false);
  std::deque<int> queue;
  double delta = 0, kept = 0; // `kept`: the excess of what was visited
  auto change = [&](int which, auto move) {
    Copies &copies = copies_[which];
    seen[which] = true;
    changed.push_back(which);
    const double before = around(copies);
    double now = before;
    const size_t known = undo.size();
    for (int n : copies.nodes) {
      undo.push_back({n, nodes_[n].choice});
    }
    const bool moved = move(copies, now);
    kept += excessOf(copies);
    if (!moved) {
      undo.resize(known);
      return;
    }
    delta += now - before;
    queue.insert(queue.end(), copies.neighbours.begin(), copies.neighbours.end());
  };
  change(start, [&](Copies &copies, double &seconds) {
    choose(copies, candidate);
    seconds = around(copies);
    return true;
  });
  for (; !queue.empty() && kept < left - kEpsilon / 2; queue.pop_front()) {
    if (int next = queue.front(); !seen[next] && candidatesOf(copies_[next]) > 1) {
      change(next, [&](Copies &copies, double &seconds) { return improveTogether(copies, seconds); });
    }
  }
  if (queue.empty() && delta < -kEpsilon) {
    left += delta;
    return true;
  }
  for (auto [node, choice] : undo) {
    nodes_[node].choice = choice;
  }
  for (int which : changed) {
    setUniform(copies_[which]);
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
          seconds +=
              node.moves[i] * boxSeconds(value, stateOf(value), node.candidates[c]->operands[i], axis_, machine_);
        }
      }
      if (best < 0 || seconds < bestSeconds - kEpsilon) {
        best = c;
        bestSeconds = seconds;
      }
    }
    node.choice = best;
  }
  refine();
}

void Solver::refine() {
  descend();
  findCopies();
  for (int round = 0; round < kSweeps; ++round) {
    bool changed = false;
    for (Copies &copies : copies_) {
      setUniform(copies);
    }
    double left = excess();
    for (int i = 0; i < int(copies_.size()); ++i) {
      for (int c = 0; c < candidatesOf(copies_[i]); ++c) {
        changed |= !haveAll(copies_[i], c) && tryRegion(i, c, left);
      }
    }
    if (!changed) {
      return;
    }
    descend();
  }
}

} // namespace weft::compiler
