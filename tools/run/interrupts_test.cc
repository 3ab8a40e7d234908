#include "tools/run/interrupts.h"

#include <unistd.h>

#include "gtest/gtest.h"

namespace weft::run {
namespace {

TEST(InterruptsTest, TheHeaviestCounts) {
  const Interrupts interrupts(true);
  EXPECT_EQ(Interrupts::asked(), Stop::kNo);
  raise(SIGTERM);
  EXPECT_EQ(Interrupts::asked(), Stop::kTerminate);
  raise(SIGUSR2);
  EXPECT_EQ(Interrupts::asked(), Stop::kInterrupt);
}

// A process that does not heed the first one, and would live for ever.
TEST(InterruptsTest, ASecondTerminationEndsTheProcess) {
  for (int signal : {SIGTERM, SIGUSR1}) {
    EXPECT_EXIT(
        {
          const Interrupts interrupts(true);
          while (true) {
            raise(signal);
            usleep(10000);
          }
        },
        ::testing::KilledBySignal(signal), "");
  }
}

}  // namespace
}  // namespace weft::run
