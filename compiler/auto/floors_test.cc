#include "compiler/auto/floors.h"

#include "gtest/gtest.h"

namespace weft::compiler {
namespace {

// 64 ranks, 32 sequences of a data rank in a micro-batch.
constexpr Choice kWide = {.data = 8, .tensor = 8, .micro = 256};

TEST(FloorsTest, NothingIsKnownAtFirst) { EXPECT_EQ(Floors().secondsOf(kWide, 4), 0); }

TEST(FloorsTest, StagesShareAndMicroBatchesAddUp) {
  Floors floors;
  floors.keep(kWide, 0.25);
  EXPECT_DOUBLE_EQ(floors.secondsOf(kWide, 4), 1);
  EXPECT_DOUBLE_EQ(floors.secondsOf({.data = 2, .tensor = 8, .pipeline = 4, .micro = 64}, 16), 1);
}

TEST(FloorsTest, FewerSequencesTakeNoLessEach) {
  Floors floors;
  floors.keep(kWide, 0.25);
  EXPECT_DOUBLE_EQ(floors.secondsOf({.data = 8, .tensor = 8, .micro = 64}, 16), 1);
  // More of them may.
  EXPECT_EQ(floors.secondsOf({.data = 8, .tensor = 8, .micro = 512}, 2), 0);
}

TEST(FloorsTest, OtherSplitsOfALayerSayNothing) {
  Floors floors;
  floors.keep(kWide, 0.25);
  EXPECT_EQ(floors.secondsOf({.data = 16, .tensor = 4, .micro = 512}, 2), 0);
  EXPECT_EQ(floors.secondsOf({.data = 4, .context = 2, .tensor = 8, .micro = 128}, 8), 0);
}

TEST(FloorsTest, GathersOfParametersCountForThemselves) {
  Floors floors;
  Choice gathers = kWide;
  gathers.zero = 3;
  floors.keep(gathers, 0.5);
  EXPECT_EQ(floors.secondsOf(kWide, 4), 0);
  floors.keep(kWide, 0.25);
  EXPECT_DOUBLE_EQ(floors.secondsOf(kWide, 4), 1);
  EXPECT_DOUBLE_EQ(floors.secondsOf(gathers, 4), 2);
}

TEST(FloorsTest, TheBestOfAnyPinsCounts) {
  Floors floors;
  floors.keep(kWide, 0.5);
  floors.keep(kWide, 0.25);
  EXPECT_DOUBLE_EQ(floors.secondsOf(kWide, 4), 1);
}

} // namespace
} // namespace weft::compiler
