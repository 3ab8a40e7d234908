#include "ops/abi/parallel.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

using Ranges = std::set<std::pair<int64_t, int64_t>>;

struct Shares {
  Ranges ranges;
  std::set<std::thread::id> threads;
};

Shares SharesOf(int threads, int64_t count, int64_t grain) {
  Shares shares;
  std::mutex mutex;
  ParallelFor(threads, count, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(shares.ranges.insert({begin, end}).second) << "twice";
    shares.threads.insert(std::this_thread::get_id());
  });
  return shares;
}

TEST(ParallelForTest, RangesCoverTheCountOnceEach) {
  for (int threads : {-1, 0, 1, 2, 3, 7}) {
    for (int64_t count : {1, 2, 5, 6, 7, 100, 1001}) {
      for (int64_t grain : {0, 1, 3, 40, 5000}) {
        const Shares shares = SharesOf(threads, count, grain);
        int64_t next = 0;
        for (auto [begin, end] : shares.ranges) {
          EXPECT_EQ(begin, next);
          EXPECT_LT(begin, end);
          if (shares.ranges.size() > 1) EXPECT_GE(end - begin, grain);
          next = end;
        }
        EXPECT_EQ(next, count);
        EXPECT_LE(static_cast<int>(shares.ranges.size()), std::max(threads, 1));
        EXPECT_EQ(shares.threads.size(), shares.ranges.size());
        EXPECT_EQ(SharesOf(threads, count, grain).ranges, shares.ranges) << "another cut for the same arguments";
      }
    }
  }
}

TEST(ParallelForTest, UsesEveryThreadThatHasAGrain) {
  EXPECT_THAT(SharesOf(3, 12, 4).ranges, ::testing::ElementsAre(std::pair(0, 4), std::pair(4, 8), std::pair(8, 12)));
  EXPECT_THAT(SharesOf(3, 11, 4).ranges, ::testing::ElementsAre(std::pair(0, 5), std::pair(5, 11)));
  EXPECT_THAT(SharesOf(3, 7, 4).ranges, ::testing::ElementsAre(std::pair(0, 7)));
}

TEST(ParallelForTest, NothingToDoCallsNothing) {
  EXPECT_THAT(SharesOf(2, 0, 1).ranges, ::testing::IsEmpty());
  EXPECT_THAT(SharesOf(2, -3, 1).ranges, ::testing::IsEmpty());
}

// What one call writes the next one reads, on whatever thread.
TEST(ParallelForTest, CallsAreOrdered) {
  int64_t values[1000] = {};
  for (int64_t round = 1; round <= 50; ++round) {
    const int threads = static_cast<int>(round % 4 + 1);
    ParallelFor(threads, 1000, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[i] += round;
    });
  }
  for (int64_t value : values) ASSERT_EQ(value, 50 * 51 / 2);
}

// A call within a call runs on the thread that makes it.
TEST(ParallelForTest, OneWithinAnotherIsOneRange) {
  std::atomic<int> ranges{0};
  ParallelFor(3, 3, 1, [&](int64_t, int64_t) {
    ParallelFor(3, 30, 1, [&](int64_t begin, int64_t end) { ranges += begin == 0 && end == 30; });
  });
  EXPECT_EQ(ranges, 3);
}

// Each caller has helpers of its own, which end with it.
TEST(ParallelForTest, CallersDoNotShareHelpers) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        ParallelFor(3, 300, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 50 * 300);
}

// The states of this process's threads but the caller, as "RS".
std::string StatesOfOthers() {
  std::string states;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    if (const size_t name = stat.rfind(')'); name != std::string::npos) states += stat[name + 2];
  }
  return states;
}

// If they looked for ever this would, too.
TEST(ParallelForTest, HelpersSleepWhenThereIsNothingToDo) {
  SharesOf(4, 100, 1);
  ASSERT_GE(StatesOfOthers().size(), 3u);
  while (StatesOfOthers().find_first_not_of('S') != std::string::npos) std::this_thread::yield();
}

}  // namespace
}  // namespace weft
