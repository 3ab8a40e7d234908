#include "tools/launch/restarts.h"

#include "gtest/gtest.h"

namespace weft::launch {
namespace {

Restarts::Time At(int minutes) { return Restarts::Time(std::chrono::minutes(minutes)); }

TEST(RestartsTest, AsManyAsAreAllowed) {
  Restarts restarts(2, 10);
  EXPECT_EQ(restarts.Begin(At(0)), "");
  EXPECT_EQ(restarts.Begin(At(1)), "");
  EXPECT_EQ(restarts.count(), 2);
  EXPECT_EQ(restarts.Begin(At(1000)), "--restarts allows 2, and so many were made");
  EXPECT_EQ(restarts.count(), 2);
}

TEST(RestartsTest, AsManyAnHour) {
  Restarts restarts(100, 2);
  EXPECT_EQ(restarts.Begin(At(0)), "");
  EXPECT_EQ(restarts.Begin(At(50)), "");
  EXPECT_EQ(restarts.Begin(At(59)), "--restarts-per-hour allows 2, and so many were made within an hour");
  EXPECT_FALSE(restarts.MayBegin(At(59)));
  EXPECT_TRUE(restarts.MayBegin(At(60))) << "the first is an hour old";
  EXPECT_EQ(restarts.Begin(At(60)), "");
  EXPECT_NE(restarts.Begin(At(100)), "");
  EXPECT_EQ(restarts.Begin(At(110)), "");
  EXPECT_EQ(restarts.count(), 4);
}

TEST(RestartsTest, NoneIsNone) { EXPECT_NE(Restarts(0, 6).Begin(At(0)), ""); }

}  // namespace
}  // namespace weft::launch
