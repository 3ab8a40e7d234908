#include "tools/run/last_resort.h"

#include <chrono>
#include <thread>

#include "gtest/gtest.h"

namespace weft::run {
namespace {

using std::chrono::milliseconds;

// A main thread that never comes back.
void Hang() {
  LastResort last_resort(stderr, milliseconds(20));
  last_resort.Arm({"weft-run: rank 0 hangs", 7});
  last_resort.Arm({"weft-run: later", 8});
  while (true) std::this_thread::sleep_for(milliseconds(1));
}

TEST(LastResortDeathTest, EndsAProcessThatHangs) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(Hang(), testing::ExitedWithCode(7), "^weft-run: rank 0 hangs\n$");
}

TEST(LastResortTest, LeavesAProcessThatEndsInTime) {
  {
    const LastResort never(stderr, milliseconds(1));
  }
  LastResort last_resort(stderr, std::chrono::hours(1));
  last_resort.Arm({"weft-run: too late", 7});
}

}  // namespace
}  // namespace weft::run
