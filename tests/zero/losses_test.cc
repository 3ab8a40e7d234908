// Whatever the ranks share out, the losses and norms are those of one rank.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 12;

std::vector<StepReport> TrainTiny(const Overrides& common, const Overrides& layout) {
  TrainOptions options;
  options.job = "tests/oracle/tiny.job";
  options.overrides = {"optimizer.clip_norm=1.0"};
  options.overrides.insert(options.overrides.end(), common.begin(), common.end());
  options.overrides.insert(options.overrides.end(), layout.begin(), layout.end());
  options.data = "tests/oracle/tokens.bin";
  options.init = "tests/oracle/tiny.safetensors";
  options.steps = kSteps;
  absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>();
}

// The greatest relative difference of losses, and of norms.
std::pair<double, double> Differences(const std::vector<StepReport>& a, const std::vector<StepReport>& b) {
  std::pair<double, double> most;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    most.first = std::max(most.first, std::abs(double(a[i].loss) - b[i].loss) / std::abs(double(b[i].loss)));
    most.second =
        std::max(most.second, std::abs(double(a[i].grad_norm) - b[i].grad_norm) / std::abs(double(b[i].grad_norm)));
  }
  return most;
}

class ZeroTest : public testing::TestWithParam<Overrides> {};

TEST_P(ZeroTest, LossesAreThoseOfOneRank) {
  const Overrides noisy = {"batch={global: 16 micro: 4}", "model.set=dropout=0.1"};
  static const auto* one = new std::vector<StepReport>(TrainTiny(noisy, {}));
  ASSERT_EQ(one->size(), size_t{kSteps});
  const std::vector<StepReport> many = TrainTiny(noisy, GetParam());
  ASSERT_EQ(many.size(), one->size());
  const auto [losses, norms] = Differences(many, *one);
  EXPECT_LT(losses, 2e-5);
  EXPECT_LT(norms, 2e-5);
}

std::vector<Overrides> Layouts() {
  std::vector<Overrides> layouts;
  for (int stage = 0; stage <= 3; ++stage) {
    const std::string zero = absl::StrCat("zero.stage=", stage);
    layouts.push_back({"dist.data=2", zero});
    layouts.push_back({"dist.data=4", zero});
    layouts.push_back({"dist={data: 2 tensor: 2 pipeline: 2}", zero});
    if (stage > 0) layouts.push_back({"dist.data=4", zero, "zero.group=2"});
  }
  // Replicas and shares on every stage of a pipeline; a group of one; another optimizer; one rank.
  layouts.push_back({"dist={data: 4 pipeline: 2}", "zero={stage: 2 group: 2}"});
  layouts.push_back({"dist.data=2", "zero={stage: 2 group: 1}"});
  layouts.push_back({"zero.stage=3"});
  return layouts;
}

INSTANTIATE_TEST_SUITE_P(Layouts, ZeroTest, testing::ValuesIn(Layouts()));

TEST(ZeroTest, OtherOptimizers) {
  for (const char* rule : {"optimizer={sgd { lr: 0.1 }}", "optimizer={sgd { lr: 0.1 momentum: 0.9 }}"}) {
    const std::vector<StepReport> one = TrainTiny({rule}, {}),
                                  many = TrainTiny({rule}, {"dist.data=2", "zero.stage=3"});
    ASSERT_EQ(many.size(), size_t{kSteps});
    EXPECT_LT(Differences(many, one).first, 2e-5) << rule;
  }
}

// In one micro-batch of two ranks every sum has the same two terms, wherever and in whatever bundle it is made.
TEST(ZeroTest, StagesAgreeToTheBit) {
  const Overrides once = {"batch={global: 4 micro: 4}", "dist.data=2"};
  const std::vector<StepReport> first = TrainTiny(once, {"zero.stage=1"});
  ASSERT_EQ(first.size(), size_t{kSteps});
  for (const char* stage : {"zero.stage=2", "zero.stage=3"}) {
    const std::vector<StepReport> other = TrainTiny(once, {stage});
    ASSERT_EQ(other.size(), first.size());
    for (int i = 0; i < kSteps; ++i) EXPECT_EQ(other[i].loss, first[i].loss) << stage << ", step " << i;
  }
}

// A gradient of one micro-batch is rounded to bfloat16 on every rank and then summed: as far apart as the oracle's
// layouts are in bfloat16.
TEST(ZeroTest, BFloat16) {
  for (const char* batch : {"batch={global: 4 micro: 4}", "batch={global: 8 micro: 4}"}) {
    const Overrides narrow = {"precision.compute=BF16", batch};
    const std::vector<StepReport> one = TrainTiny(narrow, {});
    ASSERT_EQ(one.size(), size_t{kSteps});
    for (int stage = 0; stage <= 3; ++stage) {
      const std::vector<StepReport> many = TrainTiny(narrow, {"dist.data=2", absl::StrCat("zero.stage=", stage)});
      ASSERT_EQ(many.size(), one.size());
      EXPECT_LT(Differences(many, one).first, 1e-4) << batch << " stage " << stage;
    }
    // The parts of the tied table's gradient are bfloat16 on both stages.
    const std::vector<StepReport> stages = TrainTiny(narrow, {"dist={data: 2 pipeline: 2}", "zero.stage=3"});
    ASSERT_EQ(stages.size(), one.size());
    EXPECT_LT(Differences(stages, one).first, 1e-4) << batch;
  }
}

}  // namespace
}  // namespace weft::tests
