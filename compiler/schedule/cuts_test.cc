#include "compiler/schedule/cuts.h"

#include <algorithm>
#include <deque>
#include <random>

#include "gtest/gtest.h"

namespace weft::schedule {
namespace {

constexpr Kind kKinds[] = {Kind::GPipe, Kind::OneForwardOneBackward, Kind::Interleaved, Kind::ZeroBubbleH1,
                           Kind::ZeroBubbleV};

Load layer(double seconds, double once = 0, double state = 0, double kept = 0) {
  return {{seconds, 2 * seconds, 0}, once, state, kept};
}

// Lives as long as the test.
CutProblem problemOf(Kind kind, int stages, int chunks, int microBatches, std::vector<Load> pieces, double transfer) {
  static std::deque<Schedule> schedules;
  static std::deque<std::vector<std::vector<Stash>>> stashesOf;
  const Schedule &schedule = schedules.emplace_back(*make(kind, stages, chunks, microBatches));
  if (isSplit(schedule.order)) {
    for (Load &piece : pieces)
      piece.seconds = {piece.seconds.forward, piece.seconds.backward / 2, piece.seconds.backward / 2};
  }
  return {schedule, stashesOf.emplace_back(stashes(schedule)), std::move(pieces),
          [transfer](int, int) { return transfer; }};
}

std::vector<size_t> sizesOf(const Cut &cut, size_t pieces) {
  std::vector<size_t> sizes;
  for (size_t i = 0; i < cut.begins.size(); ++i)
    sizes.push_back((i + 1 < cut.begins.size() ? cut.begins[i + 1] : pieces) - cut.begins[i]);
  return sizes;
}

void forEachCut(size_t pieces, size_t chunks, const std::function<void(const Begins &)> &visit) {
  std::vector<bool> begins(pieces - 1, false); // of all but the first
  std::fill(begins.end() - long(chunks - 1), begins.end(), true);
  do {
    Begins cut = {0};
    for (size_t i = 0; i < begins.size(); ++i) {
      if (begins[i])
        cut.push_back(i + 1);
    }
    visit(cut);
  } while (std::next_permutation(begins.begin(), begins.end()));
}

CutProblem randomProblem(std::mt19937 &random, Kind kind, double &least) {
  const auto below = [&](int count) { return int(random() % unsigned(count)); };
  const int stages = 2 + below(3), chunks = kind == Kind::Interleaved ? 2 + below(2) : 0, microBatches = 1 + below(8);
  const int all = stages * std::max(chunks, kind == Kind::ZeroBubbleV ? 2 : 1);
  std::vector<Load> pieces;
  for (int i = 0, count = all + below(5); i < count; ++i)
    pieces.push_back(layer(0.1 + 0.1 * below(10), 0.1 * below(3), 1 + below(4), 0.5 * below(3)));
  for (Load &piece : pieces)
    piece.seconds.backward *= 0.5 + 0.25 * below(4);
  CutProblem problem = problemOf(kind, stages, chunks, microBatches, pieces, 0.05 * below(4));
  // So that memory binds now and then.
  least = 1e9;
  double most = 0;
  forEachCut(pieces.size(), size_t(all), [&](const Begins &begins) {
    const double bytes = measured(problem, begins).bytes;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  });
  if (below(2) == 0)
    problem.limitBytes = least + (most - least) * 0.25 * below(3);
  return problem;
}

// The head is worth three layers: the last stage has three layers less.
TEST(CutsTest, TheStageWithTheHeadHasFewerLayers) {
  std::vector<Load> pieces(16, layer(1));
  pieces.push_back(layer(3));
  const Cut cut = bestCut(problemOf(Kind::OneForwardOneBackward, 4, 0, 32, pieces, 0), 1000);
  EXPECT_TRUE(cut.isExact);
  EXPECT_EQ(sizesOf(cut, pieces.size()), (std::vector<size_t>{5, 5, 5, 2}));
}

// Stage 0 keeps four micro-batches, the last one keeps one.
TEST(CutsTest, TheStageThatKeepsMostHasFewerLayers) {
  CutProblem problem = problemOf(Kind::OneForwardOneBackward, 4, 0, 8, std::vector<Load>(16, layer(1, 0, 1, 1)), 0);
  EXPECT_EQ(sizesOf(bestCut(problem, 1000), 16), (std::vector<size_t>{4, 4, 4, 4}));
  problem.limitBytes = 15;
  const Cut cut = bestCut(problem, 1000);
  EXPECT_TRUE(cut.isExact);
  EXPECT_LE(cut.bytes, 15);
  EXPECT_EQ(sizesOf(cut, 16)[0], 3u);
}

// Of all cuts, where a stage has one chunk.
TEST(CutsTest, WhatFitsNowhereNeedsLeast) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    double least = 0;
    CutProblem problem = randomProblem(random, round % 2 == 0 ? Kind::OneForwardOneBackward : Kind::GPipe, least);
    problem.limitBytes = 0;
    EXPECT_DOUBLE_EQ(quickCut(problem).bytes, least) << round;
    EXPECT_DOUBLE_EQ(bestCut(problem, 100).bytes, least) << round;
  }
}

TEST(CutsTest, WhatFitsNowhereNeedsLittle) {
  CutProblem problem = problemOf(Kind::GPipe, 2, 0, 2, std::vector<Load>(4, layer(1, 0, 10)), 0);
  problem.limitBytes = 5;
  const Cut cut = bestCut(problem, 1000);
  EXPECT_FALSE(cut.isExact);
  EXPECT_EQ(cut.bytes, 20);
}

// Beside every cut there is.
TEST(CutsTest, NoCutThatFitsIsFaster) {
  std::mt19937 random(1);
  int bound = 0;
  for (int round = 0; round < 300; ++round) {
    const Kind kind = kKinds[round % 5];
    double least = 0;
    const CutProblem problem = randomProblem(random, kind, least);
    const size_t chunks = size_t(problem.schedule.shape.allChunks());
    double fastest = 1e9;
    forEachCut(problem.pieces.size(), chunks, [&](const Begins &begins) {
      const Cut cut = measured(problem, begins);
      fastest = cut.bytes <= problem.limitBytes ? std::min(fastest, cut.seconds()) : fastest;
    });
    const Cut best = bestCut(problem, 100000);
    ASSERT_EQ(best.begins.size(), chunks);
    bound += problem.limitBytes < 1e9;
    if (best.bytes > problem.limitBytes)
      continue; // single pieces led to nothing that fits
    EXPECT_TRUE(best.isExact) << nameOf(kind);
    EXPECT_LE(bestCut(problem, 1).bound_s, fastest * (1 + 1e-9)) << nameOf(kind);
    EXPECT_NEAR(best.seconds(), fastest, 1e-7) << nameOf(kind) << " round " << round;
  }
  EXPECT_GT(bound, 50);
}

// With one chunk a stage, few measurements find what many prove to be the best.
TEST(CutsTest, FewMeasurementsCut48Layers) {
  for (const int stages : {4, 8}) {
    for (const double head : {0.5, 1.3, 2.6}) {
      std::vector<Load> pieces(49, layer(1));
      pieces.front() = layer(0.1);
      pieces.push_back(layer(head));
      const CutProblem problem = problemOf(Kind::OneForwardOneBackward, stages, 0, 32, pieces, 0.05);
      const Cut few = bestCut(problem, 300), many = bestCut(problem, 20000);
      EXPECT_TRUE(many.isExact) << stages << " stages, head " << head;
      EXPECT_DOUBLE_EQ(few.seconds(), many.seconds()) << stages << " stages, head " << head;
    }
  }
}

TEST(CutsTest, AQuickCutIsNearTheBest) {
  std::mt19937 random(2);
  double worst = 1;
  for (int round = 0; round < 100; ++round) {
    double least = 0;
    CutProblem problem = randomProblem(random, Kind::OneForwardOneBackward, least);
    problem.limitBytes = 1e9;
    const double quick = quickCut(problem).seconds(), best = bestCut(problem, 100000).seconds();
    EXPECT_GE(quick, best * (1 - 1e-9));
    worst = std::max(worst, quick / best);
  }
  EXPECT_LT(worst, 1.1);
}

} // namespace
} // namespace weft::schedule
