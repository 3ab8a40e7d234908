// Every rank has a loss scale of its own, and all are one.
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

class RanksTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(RanksTest, HaveOneLossScale) {
  std::mutex mutex;
  std::map<int, int> seen;                        // rank -> scalars
  std::map<std::string, std::set<float>> values;  // of all ranks, after every step
  TrainOptions options;
  options.job = "tests/oracle/tiny.job";
  options.overrides = {"precision={compute: F16 loss_scale { growth_interval: 3 }}"};
  options.overrides.insert(options.overrides.end(), GetParam().begin(), GetParam().end());
  options.data = "tests/oracle/tokens.bin";
  options.steps = 12;
  int step = 0;
  options.inspect = [&](executor::Executor& executor) {
    for (const executor::StateTile& tile : executor.state()) {
      if (tile.name.rfind("loss_scale", 0) != 0) continue;
      absl::Status saved = executor.SaveTile(tile, [&](const void* bytes) {
        const std::lock_guard<std::mutex> lock(mutex);
        values[tile.name + " " + std::to_string(step)].insert(*static_cast<const float*>(bytes));
        ++seen[executor.rank()];
        return absl::OkStatus();
      });
      if (!saved.ok()) return saved;
    }
    return absl::OkStatus();
  };
  options.after_step = [&] { ++step; };
  const absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ(values.size(), 3u * 12);
  std::set<float> scales;
  for (const auto& [name, of_ranks] : values) {
    EXPECT_EQ(of_ranks.size(), 1u) << name;
    if (name.rfind("loss_scale ", 0) == 0) scales.insert(*of_ranks.begin());
  }
  EXPECT_GT(scales.size(), 2u);
  for (const auto& [rank, count] : seen) EXPECT_EQ(count, 3 * 12) << rank;
  EXPECT_GE(seen.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Layouts, RanksTest,
                         testing::Values(std::vector<std::string>{"dist.data=2", "dist.tensor=2"},
                                         std::vector<std::string>{"dist.data=4", "zero.stage=3"},
                                         std::vector<std::string>{"dist.data=2", "dist.pipeline=2"}));

}  // namespace
}  // namespace weft::tests
