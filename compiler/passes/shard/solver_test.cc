// The local search against the true optimum of problems small enough to try everything.
#include "compiler/passes/shard/solver.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "compiler/analysis/boxing.h"
#include "compiler/passes/shard/copies.h"
#include "compiler/passes/shard/random_problems.h"

namespace weft::compiler {
namespace {

struct Ratios {
  int optimal = 0, problems = 0;
  double worst = 1, sum = 0;
};

Ratios compare(llvm::function_ref<Problem(uint32_t)> make, int problems) {
  Ratios r;
  for (int seed = 0; seed < problems; ++seed) {
    Problem p = make(uint32_t(seed));
    p.solver().solve();
    double found = p.solver().total();
    double best = p.optimum();
    EXPECT_GE(found, best - 1e-12);
    double ratio = found / best;
    r.optimal += ratio < 1 + 1e-9;
    r.worst = std::max(r.worst, ratio);
    r.sum += ratio;
    ++r.problems;
  }
  std::printf("optimal %d of %d, worst %.4f, mean %.4f of the optimum\n", r.optimal, r.problems, r.worst,
              r.sum / r.problems);
  return r;
}

TEST(Solver, ChainsAgainstTheOptimum) {
  Ratios r = compare([](uint32_t seed) { return chain(seed, 6); }, 300);
  EXPECT_EQ(r.optimal, r.problems);
}

TEST(Solver, GraphsAgainstTheOptimum) {
  Ratios r = compare([](uint32_t seed) { return graph(seed, 6); }, 300);
  EXPECT_GE(r.optimal, r.problems * 9 / 10);
  EXPECT_LE(r.sum / r.problems, 1.01);
  EXPECT_LE(r.worst, 1.5);
}

// Whatever the size: no single op does better with another signature, and the same problem has the same answer.
TEST(Solver, NoSingleChangeHelps) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Problem p = graph(seed, 60), q = graph(seed, 60);
    p.solver().solve();
    q.solver().solve();
    double total = p.solver().total();
    for (size_t n = 0; n < p.nodes.size(); ++n) {
      int choice = p.nodes[n].choice;
      EXPECT_EQ(choice, q.nodes[n].choice);
      for (int c = 0; c < int(p.nodes[n].candidates.size()); ++c) {
        p.nodes[n].choice = c;
        EXPECT_GE(p.solver().total(), total - 1e-9) << "node " << n << " of problem " << seed;
      }
      p.nodes[n].choice = choice;
    }
  }
}

// 3 GB/s links, 10 us latency: 3e6 bytes over two ranks are gathered in 10 us + 0.5 ms.
TEST(Solver, TotalCountsABoxOnceForAllThatWantTheSame) {
  Problem p;
  int x = p.value(3e6, kS0);
  for (int reader = 0; reader < 3; ++reader) {
    p.node({x}, 1);
    p.candidate(reader, {kB}, kB, 0);
  }
  EXPECT_NEAR(p.solver().total(), 0.51e-3, 1e-9);
}

// As often as the most frequent of its readers runs, and no more often: a box behind an accumulate runs once a step.
TEST(Solver, TotalCountsABoxAsOftenAsItsReaders) {
  Problem p;
  int x = p.value(3e6, kS0);
  p.node({x}, 1);
  p.candidate(0, {kB}, kB, 0);
  EXPECT_NEAR(p.solver().total(), 0.51e-3, 1e-9);
  p.node({x}, 1);
  p.candidate(1, {kB}, kB, 0);
  weigh(p.nodes[1], 4);
  EXPECT_NEAR(p.solver().total(), 4 * 0.51e-3, 1e-9);
}

// A gathered parameter costs memory too: a split parameter is left split, though computing would be cheaper whole.
TEST(Solver, LeavesSplitParametersSplit) {
  for (bool keep : {false, true}) {
    Problem p;
    int w = p.value(1e3, kS0);
    p.values[w].keepSplit = keep;
    p.node({w}, 1e6);
    p.candidate(0, {kB}, kB, 0);
    p.candidate(0, {kS0}, kS0, 1e-3);
    p.solver().solve();
    EXPECT_EQ(p.nodes[0].choice, keep ? 1 : 0);
  }
}

// Ranks that work on parts of a batch go on doing so, although to gather it would save more than it costs.
TEST(Solver, LeavesWhatNeedNotMove) {
  for (bool keep : {false, true}) {
    Problem p;
    int x = p.value(1e3, kS0);
    p.values[x].keepState = keep;
    p.node({x}, 1e6);
    p.candidate(0, {kB}, kB, 0);
    p.candidate(0, {kS0}, kS0, 1e-3);
    p.solver().solve();
    EXPECT_EQ(p.nodes[0].choice, keep ? 1 : 0);
  }
}

// 3e6 bytes over two ranks: 10 us + 1 ms to reduce, 10 us + 0.5 ms to gather. Only reductions run beside the backward.
TEST(Solver, TotalCountsHalfOfWhatRunsBesideTheBackward) {
  for (auto [from, seconds] : {std::pair{kP, 1.01e-3 / 2}, {kS0, 0.51e-3}}) {
    Problem p;
    int x = p.value(3e6, from);
    p.values[x].overlapped = true;
    p.node({x}, 1);
    p.candidate(0, {kB}, kB, 0);
    EXPECT_NEAR(p.solver().total(), seconds, 1e-9);
  }
}

// A parameter that each of four micro-batches reads is gathered once.
TEST(Solver, TotalCountsABoxThatMovesLessOftenThanItsReaderRuns) {
  Problem p;
  int w = p.value(3e6, kS0);
  p.node({w}, 1);
  p.candidate(0, {kB}, kB, 1e-3);
  weigh(p.nodes[0], 4);
  p.nodes[0].moves = {1};
  EXPECT_NEAR(p.solver().total(), 4e-3 + 0.51e-3, 1e-9);
}

// What comes from another mesh arrives as it is wanted.
TEST(Solver, FreeValuesCostNothing) {
  Problem p;
  int x = p.value(1e9, kS0);
  p.values[x].free = true;
  p.node({x}, 1);
  p.candidate(0, {kB}, kB, 1e-6);
  EXPECT_DOUBLE_EQ(p.solver().total(), 1e-6);
}

// What is made of each of `layers` goes into one sum, which is cheap in the other split. That no layer is made in by
// itself, as it costs a little more there.
Problem sums(int layers) {
  constexpr double kBytes = 4e6;
  Problem one;
  one.node({one.value(kBytes, kS1)}, 4);
  one.candidate(0, {kS0}, kB, 0);
  const double box = one.solver().total();
  Problem p;
  std::vector<int> made;
  for (int i = 0; i < layers; ++i) {
    made.push_back(p.node({p.value(4, kB)}, kBytes));
    p.candidate(i, {kB}, kS1, 0);
    p.candidate(i, {kB}, kS0, 0.01 * box);
  }
  p.node(made, 4);
  for (auto [state, seconds] : {std::pair{kS1, 0.8 * box * layers}, {kS0, 0.0}}) {
    Signature s;
    s.operands.assign(layers, state);
    s.results = {kB};
    p.signatures.push_back(s);
    p.nodes.back().candidates.push_back(&p.signatures.back());
    p.nodes.back().seconds.push_back(seconds);
  }
  return p;
}

// Of a chain of equal nodes all are copies but those that are no more than two steps from an end.
TEST(Copies, AreAlikeTwoStepsAround) {
  Problem p;
  int x = p.value(4, kB);
  for (int i = 0; i < 9; ++i) {
    x = p.node({x}, 4);
    p.candidate(i, {kB}, kB, 1e-6);
  }
  EXPECT_EQ(copiesOf(p.nodes, p.values), (std::vector<std::vector<int>>{{0}, {1}, {2}, {3, 4, 5, 6}, {7}, {8}}));
}

// No single change helps here: the sum and all layers have to change at once.
TEST(Solver, LayersAreDecidedAlikeHoweverManyThereAre) {
  for (int layers : {2, 10, 100, 2000}) {
    Problem p = sums(layers);
    p.solver().solve();
    for (const SolverNode &node : p.nodes) {
      EXPECT_EQ(node.choice, 1) << layers << " layers";
    }
  }
}

// What all layers of a chain read is cheaper to make in the other split, for which each has to box an input of its own:
// worth it for 20 layers, not for 100.
TEST(Solver, CopiesAreWeighedAsManyAsTheyAre) {
  constexpr double kBytes = 4e6;
  for (int layers : {20, 100}) {
    Problem p;
    const double box = transitionSeconds(kS1, kS0, kBytes, plan::Together(2), p.machine);
    const int shared = p.node({p.value(4, kB)}, 1000 * kBytes);
    p.candidate(0, {kB}, kS1, 50 * box);
    p.candidate(0, {kB}, kS0, 0);
    int x = p.value(4, kB);
    for (int i = 1; i <= layers; ++i) {
      x = p.node({x, shared, p.value(kBytes, kS1)}, 4);
      p.candidate(i, {kB, kS1, kS1}, kB, 0);
      p.candidate(i, {kB, kS0, kS0}, kB, 0);
    }
    EXPECT_LT(copiesOf(p.nodes, p.values).size(), 8u);
    p.solver().solve();
    for (const SolverNode &node : p.nodes) {
      EXPECT_EQ(node.choice, layers < 50 ? 1 : 0) << layers << " layers";
    }
  }
}

} // namespace
} // namespace weft::compiler
