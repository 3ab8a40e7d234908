#include "tools/run/due_times.h"

#include "gtest/gtest.h"

namespace weft::run {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(DueTimesTest, StepsNeedNoClock) {
  const DueTimes times({.steps = 3}, 0);
  EXPECT_FALSE(times.IsOver(1000 * kSecond));
  EXPECT_FALSE(times.IsAfter(2));
  EXPECT_TRUE(times.IsAfter(3));
  EXPECT_TRUE(times.IsAfter(6));
  EXPECT_TRUE(times.MayHaveBeenAfter(6));
  EXPECT_FALSE(times.MayHaveBeenAfter(7));
}

TEST(DueTimesTest, TheClockAsksForTheNextSteps) {
  DueTimes times({.seconds = 5}, 100 * kSecond);
  EXPECT_FALSE(times.IsOver(105 * kSecond - 1));
  EXPECT_TRUE(times.IsOver(105 * kSecond));
  EXPECT_FALSE(times.IsAfter(7));
  times.Ask(7);
  EXPECT_TRUE(times.IsAfter(7));
  EXPECT_FALSE(times.IsAfter(8));
  times.Begin(106 * kSecond);
  EXPECT_FALSE(times.IsOver(110 * kSecond));
  EXPECT_TRUE(times.IsOver(111 * kSecond));
  EXPECT_TRUE(times.MayHaveBeenAfter(2));
}

TEST(DueTimesTest, NeverWithoutAnInterval) {
  const DueTimes times({}, 0);
  EXPECT_FALSE(times.IsOver(1000 * kSecond));
  EXPECT_FALSE(times.IsAfter(0));
  EXPECT_FALSE(times.MayHaveBeenAfter(1));
}

}  // namespace
}  // namespace weft::run
