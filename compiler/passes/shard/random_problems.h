// Labelling problems for tests: small enough to try every choice.
#ifndef WEFT_COMPILER_PASSES_SHARD_RANDOM_PROBLEMS_H_
#define WEFT_COMPILER_PASSES_SHARD_RANDOM_PROBLEMS_H_

#include <cmath>
#include <deque>
#include <random>

#include "compiler/passes/shard/solver.h"

namespace weft::compiler {

using ir::SbpState;
using ir::Signature;

const SbpState kB = SbpState::broadcast(), kS0 = SbpState::split(0), kS1 = SbpState::split(1),
               kP = SbpState::partialSum();

// Owns the signatures that the nodes of a problem point to.
struct Problem {
  std::vector<SolverNode> nodes;
  std::vector<SolverValue> values;
  std::deque<Signature> signatures;
  CostModel machine;
  int64_t axisSize = 2;

  int value(double bytes, SbpState fixed = kB) {
    SolverValue v;
    v.bytes = bytes;
    v.fixed = fixed;
    values.push_back(v);
    return int(values.size()) - 1;
  }

  int node(std::vector<int> operands, double bytes) {
    SolverNode n;
    n.operands = operands;
    n.moves.assign(operands.size(), 1);
    int index = int(nodes.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      values[operands[i]].uses.push_back({index, int(i)});
    }
    n.results = {value(bytes)};
    values[n.results[0]].producer = index;
    nodes.push_back(n);
    return n.results[0];
  }

  void candidate(int node, std::initializer_list<SbpState> operands, SbpState result, double seconds) {
    Signature s;
    s.operands.assign(operands.begin(), operands.end());
    s.results = {result};
    signatures.push_back(s);
    nodes[node].candidates.push_back(&signatures.back());
    nodes[node].seconds.push_back(seconds);
  }

  Solver solver() { return Solver(nodes, values, plan::Together(axisSize), machine); }

  // The least total over all choices.
  double optimum() {
    Solver s = solver();
    for (SolverNode &n : nodes) {
      n.choice = 0;
    }
    double best = s.total();
    while (advance()) {
      best = std::min(best, s.total());
    }
    return best;
  }

  // The next choice, as an odometer counts; false behind the last.
  bool advance() {
    for (SolverNode &n : nodes) {
      if (++n.choice < int(n.candidates.size())) {
        return true;
      }
      n.choice = 0;
    }
    return false;
  }
};

// How often a step runs a node, and boxes what it reads.
inline void weigh(SolverNode &node, double runs) {
  node.weight = runs;
  node.moves.assign(node.operands.size(), runs);
}

// Numbers that do not depend on the standard library.
class Random {
public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int below(int n) { return int(engine_() % uint32_t(n)); }
  double logUniform(double low, double high) { return low * std::pow(high / low, double(engine_()) / 4294967296.0); }

private:
  std::mt19937 engine_;
};

// The signatures of an element-wise op or, half of the time, of one that mixes dimension 1.
inline void unary(Problem &p, int node, Random &random) {
  double seconds = random.logUniform(1e-6, 1e-3);
  p.candidate(node, {kB}, kB, seconds);
  p.candidate(node, {kS0}, kS0, seconds / 2);
  if (random.below(2)) {
    p.candidate(node, {kS1}, kS1, seconds / 2);
  } else {
    p.candidate(node, {kS1}, kP, seconds / 2);
  }
  if (random.below(2)) {
    p.candidate(node, {kP}, kP, seconds);
  }
}

// Of an addition or a matrix product.
inline void binary(Problem &p, int node, Random &random) {
  double seconds = random.logUniform(1e-6, 1e-3);
  p.candidate(node, {kB, kB}, kB, seconds);
  if (random.below(2)) {
    p.candidate(node, {kS0, kS0}, kS0, seconds / 2);
    p.candidate(node, {kS1, kS1}, kS1, seconds / 2);
    p.candidate(node, {kP, kP}, kP, seconds);
  } else {
    p.candidate(node, {kS0, kB}, kS0, seconds / 2);
    p.candidate(node, {kB, kS1}, kS1, seconds / 2);
    p.candidate(node, {kS1, kS0}, kP, seconds / 2);
  }
}

inline SbpState anyState(Random &random) {
  SbpState states[] = {kB, kS0, kS1, kP};
  return states[random.below(4)];
}

inline Problem chain(uint32_t seed, int length) {
  Random random(seed);
  Problem p;
  int at = p.value(random.logUniform(1e3, 1e7), anyState(random));
  for (int i = 0; i < length; ++i) {
    at = p.node({at}, random.logUniform(1e3, 1e7));
    unary(p, i, random);
    weigh(p.nodes[i], i < length / 2 ? 4 : 1);
  }
  return p;
}

// Every node reads one or two of the last values: chains that split and meet, as graphs of models do.
inline Problem graph(uint32_t seed, int size) {
  Random random(seed);
  Problem p;
  std::vector<int> live{p.value(random.logUniform(1e3, 1e7), anyState(random)),
                        p.value(random.logUniform(1e3, 1e7), anyState(random))};
  for (int i = 0; i < size; ++i) {
    auto pick = [&] { return live[live.size() - 1 - size_t(random.below(std::min(4, int(live.size()))))]; };
    bool two = random.below(2);
    std::vector<int> operands{pick()};
    if (two) {
      operands.push_back(pick());
    }
    live.push_back(p.node(operands, random.logUniform(1e3, 1e7)));
    two ? binary(p, i, random) : unary(p, i, random);
  }
  return p;
}

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_RANDOM_PROBLEMS_H_
