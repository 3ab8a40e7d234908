#include "tools/run/state_copy.h"

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/executor/local_cluster.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"

namespace weft::run {
namespace {

using State = std::map<std::string, std::vector<char>>;  // by name and place: the tiles that are saved

std::string NameOf(const executor::StateTile& tile) { return tile.name + tile.spec.ToString(); }

State StateOf(executor::Cluster& cluster) {
  State state;
  std::mutex mutex;
  EXPECT_TRUE(cluster
                  .OnEveryRank([&](executor::Executor& executor) {
                    for (const executor::StateTile& tile : executor.state()) {
                      if (!tile.primary) continue;
                      const absl::Status saved = executor.SaveTile(tile, [&](const void* bytes) {
                        const char* const begin = static_cast<const char*>(bytes);
                        std::lock_guard<std::mutex> lock(mutex);
                        state[NameOf(tile)].assign(begin, begin + tile.spec.bytes());
                        return absl::OkStatus();
                      });
                      if (!saved.ok()) return saved;
                    }
                    return absl::OkStatus();
                  })
                  .ok());
  return state;
}

State StateOf(const StateCopy& copy) {
  State state;
  EXPECT_TRUE(copy.ForEach([&](const executor::StateTile& tile, const void* bytes) {
                    const char* const begin = static_cast<const char*>(bytes);
                    EXPECT_TRUE(
                        state.emplace(NameOf(tile), std::vector<char>(begin, begin + tile.spec.bytes())).second);
                    return absl::OkStatus();
                  })
                  .ok());
  return state;
}

TEST(StateCopyTest, IsOfTheStepsThatWereDone) {
  for (const plan::Plan& plan : {executor::OneRank(), executor::TwoRanks()}) {
    const KernelRegistry kernels = executor::TestKernels();
    executor::SampleSource source;
    auto cluster = executor::LocalCluster::Create(plan, {.kernels = &kernels, .source = &source, .seed = 1});
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    ASSERT_TRUE((*cluster)->Initialize().ok());
    auto copy = StateCopy::Create(**cluster);
    ASSERT_TRUE(copy.ok()) << copy.status();
    for (int64_t step = 0; step < 4; step += 2) {
      ASSERT_TRUE((*cluster)->Step(step).ok());
      const State before = StateOf(**cluster);
      ASSERT_TRUE((*copy)->Take().ok());
      ASSERT_TRUE((*cluster)->Step(step + 1).ok());  // while a thread would write
      EXPECT_FALSE(before.empty());
      EXPECT_EQ(StateOf(**copy), before);
      EXPECT_NE(StateOf(**cluster), before);
    }
  }
}

TEST(StateCopyTest, EndsWithTheFirstError) {
  const KernelRegistry kernels = executor::TestKernels();
  executor::SampleSource source;
  const plan::Plan plan = executor::TwoRanks();
  auto cluster = executor::LocalCluster::Create(plan, {.kernels = &kernels, .source = &source, .seed = 1});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  auto copy = StateCopy::Create(**cluster);
  ASSERT_TRUE(copy.ok()) << copy.status();
  int calls = 0;
  const absl::Status status = (*copy)->ForEach([&](const executor::StateTile&, const void*) {
    ++calls;
    return absl::CancelledError("given up");
  });
  EXPECT_EQ(status, absl::CancelledError("given up"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace weft::run
