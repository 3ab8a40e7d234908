#include "tools/run/best.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::run {
namespace {

const BestRule kAccuracy = {.metric = "accuracy", .largest = true, .stop_at = 0.85, .patience = 2, .of = "a"};

TEST(BestTest, IsTheLargestOrTheLeast) {
  Best largest(kAccuracy), least({.metric = "loss", .of = "l"});
  EXPECT_EQ(largest.step(), -1);
  for (Best* best : {&largest, &least}) {
    EXPECT_TRUE(best->Take(10, 0.5));
    EXPECT_FALSE(best->Take(20, 0.5));  // no better
  }
  EXPECT_TRUE(largest.Take(30, 0.6));
  EXPECT_FALSE(least.Take(30, 0.6));
  EXPECT_TRUE(least.Take(40, 0.4));
  EXPECT_EQ(largest.Text(), "accuracy 0.6 after step 30");
  EXPECT_EQ(least.Text(), "loss 0.4 after step 40");
  EXPECT_FALSE(Best({}).Take(10, 1));
}

TEST(BestTest, NoNumberIsNeverTheBest) {
  Best best(kAccuracy);
  EXPECT_FALSE(best.Take(10, NAN));
  EXPECT_EQ(best.End(), "");
  EXPECT_FALSE(best.Take(20, NAN));
  EXPECT_EQ(best.End(), "2 evaluations in a row without a number for accuracy");
  EXPECT_TRUE(best.Take(30, 0.1));
  EXPECT_EQ(best.End(), "");
}

TEST(BestTest, EndsWhereItIsGoodEnough) {
  Best best(kAccuracy);
  best.Take(10, 0.8499);
  EXPECT_EQ(best.End(), "");
  best.Take(20, 0.85);
  EXPECT_EQ(best.End(), "accuracy 0.85 after step 20, which is 0.85 or more");
  Best loss({.metric = "loss", .stop_at = 0.3});
  loss.Take(10, 0.31);
  EXPECT_EQ(loss.End(), "");
  loss.Take(20, 0.29);
  EXPECT_EQ(loss.End(), "loss 0.29 after step 20, which is 0.3 or less");
}

TEST(BestTest, EndsWhenPatienceDoes) {
  Best best(kAccuracy);
  best.Take(10, 0.5);
  best.Take(20, 0.4);
  EXPECT_EQ(best.End(), "");
  best.Take(30, 0.45);  // better than the one before, but not the best
  EXPECT_EQ(best.End(), "2 evaluations in a row no better than accuracy 0.5 after step 10");
}

TEST(BestTest, GoesOnFromACheckpoint) {
  Best before(kAccuracy);
  before.Take(10, 1.0 / 3);
  before.Take(20, 0.1);
  Record record = {{"weft", "1"}};
  before.AddTo(record);
  Best after(kAccuracy);
  ASSERT_TRUE(after.Read(record));
  EXPECT_EQ(after.step(), 10);
  EXPECT_EQ(after.value(), 1.0 / 3);  // to the last bit
  EXPECT_FALSE(after.Take(30, 1.0 / 3));
  EXPECT_NE(after.End(), "");  // as the one of before counts
  // Of another function, or other data.
  BestRule other = kAccuracy;
  other.of = "b";
  Best anew(other);
  EXPECT_FALSE(anew.Read(record));
  EXPECT_EQ(anew.step(), -1);
  EXPECT_FALSE(Best(kAccuracy).Read({}));
}

}  // namespace
}  // namespace weft::run
