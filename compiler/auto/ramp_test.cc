#include "compiler/auto/ramp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/schedule/measure.h"

namespace weft::compiler {
namespace {

constexpr int kMost = 8; // stages, and micro-batches

// Chunks of any sizes, under every schedule: none ends before the bound.
TEST(RampTest, NoCutIsFaster) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(0, 1);
  double nearest = 1e9;
  for (int round = 0; round < 5000; ++round) {
    const schedule::Kind kinds[] = {schedule::Kind::GPipe, schedule::Kind::OneForwardOneBackward,
                                    schedule::Kind::Interleaved, schedule::Kind::ZeroBubbleH1,
                                    schedule::Kind::ZeroBubbleV};
    const schedule::Kind kind = kinds[random() % 5];
    const int stages = 1 + int(random() % kMost), microBatches = 1 + int(random() % kMost);
    const int chunks = kind == schedule::Kind::Interleaved   ? 2 + int(random() % 3)
                       : kind == schedule::Kind::ZeroBubbleV ? 2
                                                             : 1;
    const schedule::Schedule made = *schedule::make(kind, stages, chunks, microBatches);
    const bool split = schedule::isSplit(made.order);
    // Some even, some growing or falling from stage to stage, some anything.
    const double slope = random() % 3 == 0 ? 0 : any(random) * 2 - 1, noise = random() % 3 == 0 ? 1 : 0.02;
    std::vector<schedule::Durations> ofChunks;
    Stages pipeline{stages, chunks, split, double(microBatches)};
    pipeline.forward = 1;
    for (int chunk = 0; chunk < made.shape.allChunks(); ++chunk) {
      const double size = std::exp(slope * chunk) * (1 + noise * any(random)), part = any(random);
      ofChunks.push_back({size * part, size * (1 - part) / (split ? 2 : 1), split ? size * (1 - part) / 2 : 0});
      pipeline.through_s += size;
      pipeline.there_s += size * (1 + part) / 2;
      pipeline.forward = std::min(pipeline.forward, part);
    }
    const double transfer = random() % 2 == 0 ? 0 : 0.1 * any(random);
    pipeline.transfer_s = transfer;
    const double step = schedule::unitTimes(made, ofChunks, [&](int, int) { return transfer; }).makespan;
    const double bound = leastStep(pipeline);
    EXPECT_LE(bound, step * (1 + 1e-9)) << schedule::nameOf(kind) << ", " << stages << " stages, " << microBatches
                                        << " micro-batches";
    nearest = std::min(nearest, stages > 1 ? step / bound : 1e9);
  }
  EXPECT_LT(nearest, 1.02) << "a bound that is never reached says little";
}

// Where layers do not wait for each other there is nothing but what stages have to do.
TEST(RampTest, TwoTowersMayRunSideBySide) {
  EXPECT_DOUBLE_EQ(leastStep({.stages = 2, .microBatches = 1, .through_s = 3, .transfer_s = 1, .isChain = false}), 1.5);
}

TEST(RampTest, OneStageRunsOneMicroBatchAfterTheOther) {
  EXPECT_DOUBLE_EQ(leastStep({1, 1, false, 4, 3, 3, 0, 2}), 14);
}

// One micro-batch is on one stage at a time.
TEST(RampTest, OneMicroBatchGoesThroughAllStages) { EXPECT_DOUBLE_EQ(leastStep({4, 1, false, 1, 3}), 3); }

} // namespace
} // namespace weft::compiler
