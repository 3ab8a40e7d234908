// The next best layouts against the true optimum of problems small enough to try everything.
#include "compiler/passes/shard/next_best.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "compiler/passes/shard/copies.h"
#include "compiler/passes/shard/random_problems.h"

namespace weft::compiler {
namespace {

SbpState madeOf(const Problem &p, int v) {
  const SolverValue &value = p.values[v];
  return value.producer < 0 ? value.fixed
                            : p.nodes[value.producer].candidates[p.nodes[value.producer].choice]->results[value.result];
}

SbpState wantedOf(const Problem &p, SolverValue::Use use) {
  return p.nodes[use.node].candidates[p.nodes[use.node].choice]->operands[use.operand];
}

// The least total in which a value is not made as it is, or none of the readers that have it boxed to `to` wants it so;
// infinite if that cannot be. Leaves the choices as they are.
double leastOtherwise(Problem &p, int v, SbpState to) {
  std::vector<int> chosen;
  for (const SolverNode &node : p.nodes) {
    chosen.push_back(node.choice);
  }
  const SbpState from = madeOf(p, v);
  std::vector<SolverValue::Use> readers;
  for (SolverValue::Use use : p.values[v].uses) {
    if (wantedOf(p, use) == to) {
      readers.push_back(use);
    }
  }
  double best = std::numeric_limits<double>::infinity();
  for (SolverNode &node : p.nodes) {
    node.choice = 0;
  }
  do {
    if (madeOf(p, v) != from || llvm::none_of(readers, [&](auto use) { return wantedOf(p, use) == to; })) {
      best = std::min(best, p.solver().total());
    }
  } while (p.advance());
  for (size_t n = 0; n < chosen.size(); ++n) {
    p.nodes[n].choice = chosen[n];
  }
  return best;
}

struct Counts {
  int boxes = 0, exact = 0;
  double worst = 1;
};

// Where no two nodes are copies, so that each value is changed for itself.
Counts compare(llvm::function_ref<Problem(uint32_t)> make, int problems) {
  Counts counts;
  for (int seed = 0; seed < problems; ++seed) {
    Problem p = make(uint32_t(seed));
    p.solver().solve();
    const double total = p.solver().total();
    EXPECT_EQ(copiesOf(p.nodes, p.values).size(), p.nodes.size());
    for (const auto &[boxed, instead] : nextBests(p.nodes, p.values, plan::Together(p.axisSize), p.machine)) {
      const double least = leastOtherwise(p, boxed.first, boxed.second);
      EXPECT_EQ(instead.exists, std::isfinite(least)) << "problem " << seed;
      if (!instead.exists) {
        continue;
      }
      const double found = total + instead.moreSeconds;
      EXPECT_GE(found, least - 1e-12) << "value " << boxed.first << " of problem " << seed;
      EXPECT_FALSE(instead.avoided);
      ++counts.boxes;
      counts.exact += found <= least * (1 + 1e-9);
      counts.worst = std::max(counts.worst, found / least);
    }
  }
  std::printf("exact %d of %d, worst %.4f of the least\n", counts.exact, counts.boxes, counts.worst);
  return counts;
}

TEST(NextBest, IsExactOnChains) {
  Counts counts = compare([](uint32_t seed) { return chain(seed, 6); }, 300);
  EXPECT_GT(counts.boxes, 100);
  EXPECT_EQ(counts.exact, counts.boxes);
}

TEST(NextBest, IsNeverBelowTheLeastOfGraphs) {
  Counts counts = compare([](uint32_t seed) { return graph(seed, 6); }, 300);
  EXPECT_GT(counts.boxes, 100);
  EXPECT_GE(counts.exact, counts.boxes * 8 / 10);
  EXPECT_LE(counts.worst, 2);
}

// A layer each: what is pending is summed for a reader that adds up rows.
Problem layers(int count) {
  Problem p;
  int x = p.value(4e6, kB);
  for (int i = 0; i < count; ++i) {
    x = p.node({x}, 4e6);
    p.candidate(2 * i, {kB}, kP, 1e-3);
    p.candidate(2 * i, {kB}, kB, 9e-3);
    x = p.node({x}, 4e6);
    p.candidate(2 * i + 1, {kB}, kB, 1e-3);
    p.candidate(2 * i + 1, {kS0}, kS0, 1e-3);
  }
  return p;
}

// Of a value in the middle, however many layers there are.
TEST(NextBest, IsTheShareOfOneLayer) {
  std::vector<double> more;
  for (int count : {8, 16, 200}) {
    Problem p = layers(count);
    p.solver().solve();
    const auto all = nextBests(p.nodes, p.values, plan::Together(p.axisSize), p.machine);
    const auto it = all.find({p.nodes[8].results[0], kB});
    ASSERT_NE(it, all.end());
    more.push_back(it->second.moreSeconds);
  }
  EXPECT_GT(more[0], 0);
  EXPECT_NEAR(more[1], more[0], 1e-9);
  EXPECT_NEAR(more[2], more[0], 1e-9);
}

// A folded problem costs what the whole one does, whatever copies have chosen together.
TEST(NextBest, FoldsWithoutLoss) {
  for (int count : {1, 3, 20}) {
    Problem p = layers(count);
    FoldedProblem folded = fold(p.nodes, p.values);
    EXPECT_LE(folded.nodes.size(), 12u);
    Random random(7);
    for (int round = 0; round < 20; ++round) {
      for (SolverNode &node : folded.nodes) {
        node.choice = random.below(int(node.candidates.size()));
      }
      for (size_t n = 0; n < p.nodes.size(); ++n) {
        p.nodes[n].choice = folded.nodes[folded.nodeOf[n]].choice;
      }
      const double whole = p.solver().total();
      EXPECT_NEAR(Solver(folded.nodes, folded.values, plan::Together(p.axisSize), p.machine).total(), whole,
                  1e-9 * whole);
    }
  }
}

// Nothing else can be made, nor read.
TEST(NextBest, SaysThatThereIsNone) {
  Problem p;
  int x = p.value(4e6, kP);
  p.node({x}, 4);
  p.candidate(0, {kB}, kB, 1e-3);
  const auto all = nextBests(p.nodes, p.values, plan::Together(p.axisSize), p.machine);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.begin()->first, std::pair(x, kB));
  EXPECT_FALSE(all.begin()->second.exists);
}

// 3e6 bytes over two ranks are reduced in 10 us + 1 ms, and gathered in 10 us + 0.5 ms. Seconds are those of the links,
// also where the search counts a box a thousand times.
TEST(NextBest, SaysWhatIsAvoided) {
  for (bool keep : {false, true}) {
    Problem p;
    int x = p.value(3e6, kS0);
    p.node({x}, 3e6);
    p.values[p.nodes[0].results[0]].keepState = keep;
    p.candidate(0, {kB}, kB, 0);
    p.candidate(0, {kS0}, kS0, 0);
    p.node({p.nodes[0].results[0]}, 4);
    p.candidate(1, {kB}, kB, 0);
    p.nodes[0].choice = 0;
    const auto all = nextBests(p.nodes, p.values, plan::Together(p.axisSize), p.machine);
    const auto it = all.find({x, kB});
    ASSERT_NE(it, all.end());
    EXPECT_EQ(it->second.read, kS0);
    EXPECT_NEAR(it->second.moreSeconds, 0, 1e-9);
    EXPECT_EQ(it->second.avoided, keep);
  }
}

} // namespace
} // namespace weft::compiler
