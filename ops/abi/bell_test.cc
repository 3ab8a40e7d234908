#include "ops/abi/bell.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weft {
namespace {

// Two threads hand a counter to and fro; a lost ring would hang the test.
void PingPong(int spins) {
  Bell even(spins), odd(spins);
  std::atomic<int> turn{0};
  constexpr int kTurns = 2000;
  std::thread other([&] {
    for (int i = 1; i < kTurns; i += 2) {
      odd.Wait([&] { return turn.load() >= i; });
      turn.store(i + 1);
      even.Ring();
    }
  });
  for (int i = 0; i < kTurns; i += 2) {
    even.Wait([&] { return turn.load() >= i; });
    turn.store(i + 1);
    odd.Ring();
  }
  other.join();
  EXPECT_EQ(turn.load(), kTurns);
}

TEST(BellTest, NoRingIsLostAsleep) { PingPong(0); }
TEST(BellTest, NoRingIsLostSpinning) { PingPong(50); }

TEST(BellTest, WakesEveryWaiter) {
  Bell bell;
  std::atomic<bool> open{false};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) waiters.emplace_back([&] { bell.Wait([&] { return open.load(); }); });
  open.store(true);
  bell.Ring();
  for (std::thread& waiter : waiters) waiter.join();
}

// Two threads on one core: each look keeps the other from what is waited for. Looks are counted, not time.
TEST(BellTest, AWaiterLeavesItsCoreToWhomItWaitsFor) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  constexpr int kTurns = 500, kLooks = 100000;
  Bell even(kLooks), odd(kLooks);
  std::atomic<int> turn{0};
  std::atomic<int64_t> looks{0};
  const auto is = [&](int i) { return ++looks, turn.load() >= i; };
  std::thread other([&] {  // on the same core
    for (int i = 1; i < kTurns; i += 2) {
      odd.Wait([&] { return is(i); });
      turn.store(i + 1);
      even.Ring();
    }
  });
  for (int i = 0; i < kTurns; i += 2) {
    even.Wait([&] { return is(i); });
    turn.store(i + 1);
    odd.Ring();
  }
  other.join();
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_LT(looks, kTurns * 1000) << "looks of " << kLooks << " that a wait may take";
}

// The core was away for long during a look: nothing is gained by looking on, in this wait and in the next ones.
TEST(BellTest, AWaiterWhoseCoreWasTakenSleeps) {
  Bell bell(1 << 30);
  for (const int64_t most : {50 + 1, 1}) {  // one round of looks, and the last one; the last one alone
    std::atomic<bool> open{false};
    std::atomic<int64_t> looks{0};
    std::thread waiter([&] {
      bell.Wait([&] {
        if (looks++ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // as if others had the core
        return open.load();
      });
    });
    while (looks < most) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // one that looks on has looked more often by now
    EXPECT_EQ(looks, most);
    open.store(true);
    bell.Ring();
    waiter.join();
  }
}

}  // namespace
}  // namespace weft
