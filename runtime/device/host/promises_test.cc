#include "runtime/device/host/promises.h"

#include "gtest/gtest.h"

namespace weft::device {
namespace {

int64_t Hundred() { return 100; }
int64_t Unknown() { return -1; }

TEST(PromisesTest, CountWhatOthersWillTake) {
  Promises promises;
  EXPECT_TRUE(promises.Make(60, &Hundred).ok());
  EXPECT_EQ(promises.Make(60, &Hundred).message(), "host memory: expected at most the 40 bytes available, got 60");
  EXPECT_TRUE(promises.Make(40, &Hundred).ok());
  promises.Settle(50);
  EXPECT_FALSE(promises.Make(51, &Hundred).ok());
  EXPECT_TRUE(promises.Make(50, &Hundred).ok());
}

TEST(PromisesTest, AreKeptBlindlyIfNothingIsKnown) {
  Promises promises;
  EXPECT_TRUE(promises.Make(int64_t{1} << 60, &Unknown).ok());
}

}  // namespace
}  // namespace weft::device
