// The exact search against the true optimum of problems small enough to try everything.
#include "compiler/passes/shard/exact.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/passes/shard/random_problems.h"

namespace weft::compiler {
namespace {

struct Sum {
  double seconds = 0, bytes = 0;
};

SbpState madeOf(const Problem &p, const SolverValue &value) {
  const SolverNode *producer = value.producer < 0 ? nullptr : &p.nodes[value.producer];
  return producer ? producer->candidates[producer->choice]->results[value.result] : value.fixed;
}

// One box to the state that is handed on, then one for each reader that wants another.
double handing(Problem &p, const SolverValue &value, SbpState handed) {
  double most = 0, seconds = 0;
  auto box = [&](SbpState from, SbpState to) {
    return from == to ? 0 : boxSeconds(value, from, to, plan::Together(p.axisSize), p.machine);
  };
  for (SolverValue::Use use : value.uses) {
    const SolverNode &reader = p.nodes[use.node];
    const double moves = reader.moves[use.operand];
    most = std::max(most, moves);
    seconds += box(handed, reader.candidates[reader.choice]->operands[use.operand]) * moves;
  }
  return seconds + box(madeOf(p, value), handed) * most;
}

Sum sumOf(Problem &p) {
  Sum sum;
  for (const SolverNode &node : p.nodes) {
    sum.seconds += node.seconds[node.choice] * node.weight;
  }
  for (const SolverValue &value : p.values) {
    const SbpState made = madeOf(p, value);
    sum.bytes += value.held.made * (made.isSplit() ? value.bytes / double(p.axisSize) : value.bytes);
    if (value.uses.empty()) {
      continue;
    }
    double least = handing(p, value, made);
    for (SbpState state : {kB, kS0, kS1}) {
      least = std::min(least, handing(p, value, state));
    }
    sum.seconds += least;
  }
  return sum;
}

// The least seconds of all choices within the limit; infinite if none fit.
double optimum(Problem &p, double limit) {
  double best = std::numeric_limits<double>::infinity();
  for (SolverNode &node : p.nodes) {
    node.choice = 0;
  }
  do {
    if (Sum sum = sumOf(p); sum.bytes <= limit) {
      best = std::min(best, sum.seconds);
    }
  } while (p.advance());
  return best;
}

Sum solved(Problem &p, const Blocks &blocks, double limit) {
  EXPECT_TRUE(chooseExactly(p.nodes, p.values, blocks, plan::Together(p.axisSize), p.machine, limit));
  return sumOf(p);
}

// Nodes in so many blocks, in order.
Blocks blocksOf(const Problem &p, int count) {
  Blocks blocks;
  for (int n = 0; n < int(p.nodes.size()); ++n) {
    blocks.of.push_back(n * count / int(p.nodes.size()));
  }
  blocks.copies.assign(count, 1);
  return blocks;
}

// The search may stop a hundredth above.
constexpr double kEnough = 1.01;

TEST(Exact, GraphsAgainstTheOptimum) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    for (int blocks : {1, 3}) {
      Problem p = graph(seed, 6);
      const double best = optimum(p, std::numeric_limits<double>::infinity());
      const double found = solved(p, blocksOf(p, blocks), 0).seconds;
      EXPECT_LE(found, best * kEnough) << "seed " << seed << ", " << blocks << " blocks";
      EXPECT_GE(found, best * (1 - 1e-9)) << seed;
    }
  }
}

TEST(Exact, MemoryBinds) {
  int slower = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Problem p = graph(seed, 6);
    for (SolverValue &value : p.values) {
      value.held.made = value.producer >= 0 ? 1 : 0;
    }
    const double fastest = optimum(p, std::numeric_limits<double>::infinity());
    const double most = solved(p, blocksOf(p, 2), 0).bytes, least = solved(p, blocksOf(p, 2), 1).bytes;
    const double limit = std::floor((most + least) / 2);
    const double best = optimum(p, limit);
    const Sum found = solved(p, blocksOf(p, 2), limit);
    // Bytes of each tile are whole numbers there.
    EXPECT_LE(found.bytes, limit + double(p.nodes.size())) << seed;
    EXPECT_LE(found.seconds, best * kEnough) << seed;
    slower += best > fastest * kEnough;
  }
  EXPECT_GT(slower, 30);
}

// A layer is three ops, of which the first and the last read what the layer before made.
Problem layers(uint32_t seed, int count) {
  Random random(seed);
  const double bytes = random.logUniform(1e3, 1e7);
  Problem p;
  int at = p.value(bytes, kB);
  for (int layer = 0; layer < count; ++layer) {
    Random same(seed + 1000); // every layer alike
    const int in = at, n = int(p.nodes.size());
    at = p.node({in}, bytes);
    unary(p, n, same);
    at = p.node({at}, bytes * 2);
    unary(p, n + 1, same);
    at = p.node({in, at}, bytes);
    binary(p, n + 2, same);
  }
  return p;
}

// What is best for all copies may not be alike for all; seldom.
TEST(Exact, ALayerStandsForItsCopies) {
  constexpr int kLayers = 7;
  int alike = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Problem all = layers(seed, kLayers), few = layers(seed, 3);
    const double whole = solved(all, blocksOf(all, kLayers), 0).seconds;
    Blocks blocks = blocksOf(few, 3);
    blocks.copies[1] = kLayers - 2;
    solved(few, blocks, 0);
    // What the few chose, for all.
    for (int n = 0; n < int(all.nodes.size()); ++n) {
      const int layer = n / 3, stands = layer == 0 ? 0 : layer == kLayers - 1 ? 2 : 1;
      all.nodes[n].choice = few.nodes[stands * 3 + n % 3].choice;
    }
    const double seconds = sumOf(all).seconds;
    EXPECT_LE(seconds, whole * 1.2) << seed;
    alike += seconds <= whole * kEnough;
  }
  EXPECT_GE(alike, 90);
}

TEST(Exact, CopiesMustFollowEachOther) {
  Problem p = layers(1, 3);
  Blocks blocks = blocksOf(p, 3);
  blocks.copies[1] = 5;
  EXPECT_TRUE(chooseExactly(p.nodes, p.values, blocks, plan::Together(p.axisSize), p.machine, 0));
  // The last layer reads what the first one made, too: that passes through the middle one, which gets less than it
  // gives.
  blocks.of[5] = 2;
  EXPECT_FALSE(chooseExactly(p.nodes, p.values, blocks, plan::Together(p.axisSize), p.machine, 0));
}

TEST(Exact, WhatMayNotBeBoxedIsReadAsItIsMade) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Problem p = graph(seed, 6);
    for (SolverNode &node : p.nodes) {
      node.moves[0] = std::numeric_limits<double>::infinity();
    }
    if (!chooseExactly(p.nodes, p.values, blocksOf(p, 2), plan::Together(p.axisSize), p.machine, 0)) {
      continue; // nothing fits together
    }
    for (const SolverNode &node : p.nodes) {
      EXPECT_EQ(madeOf(p, p.values[node.operands[0]]), node.candidates[node.choice]->operands[0]) << seed;
    }
  }
}

} // namespace
} // namespace weft::compiler
