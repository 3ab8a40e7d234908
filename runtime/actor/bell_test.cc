#include "runtime/actor/bell.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weft::actor {
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

}  // namespace
}  // namespace weft::actor
