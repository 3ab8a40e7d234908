// Weft against another trainer: llm.c trained the same weights on the same
// tokens in float32, a PyTorch model in float64 (see README.md).
#include <algorithm>
#include <cmath>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

struct Line {
  int step;
  double loss, norm;
};

std::vector<Line> ReadLines(const std::string& path) {
  std::ifstream in(path);
  std::vector<Line> lines;
  Line line;
  while (in >> line.step >> line.loss >> line.norm) lines.push_back(line);
  return lines;
}

std::vector<StepReport> TrainOracle(const std::vector<std::string>& overrides, int steps) {
  TrainOptions options;
  options.job = "tests/oracle/tiny.job";
  options.overrides = overrides;
  options.data = "tests/oracle/tokens.bin";
  options.init = "tests/oracle/tiny.safetensors";
  options.steps = steps;
  absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>();
}

double Relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

TEST(OracleTest, LossesAndGradientNormsAreThoseOfTheOtherTrainer) {
  for (const char* name : {"tests/oracle/tiny_losses_llmc_f32.txt", "tests/oracle/tiny_losses_f64.txt"}) {
    const std::vector<Line> lines = ReadLines(name);
    ASSERT_EQ(lines.size(), 40u) << name;
    const std::vector<StepReport> reports = TrainOracle({}, 40);
    ASSERT_EQ(reports.size(), lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].step, static_cast<int>(i)) << name;
      EXPECT_LT(Relative(reports[i].loss, lines[i].loss), 1e-4) << name << " step " << i;
      EXPECT_LT(Relative(reports[i].grad_norm, lines[i].norm), 1e-3) << name << " step " << i;
    }
  }
}

// Without this the layouts below would also agree if dropout did nothing.
TEST(OracleTest, DropoutChangesTheLossOfEveryStep) {
  const std::vector<StepReport> off = TrainOracle({}, 3), on = TrainOracle({"model.set=dropout=0.1"}, 3);
  const std::vector<StepReport> other = TrainOracle({"model.set=dropout=0.1", "seed=2"}, 3);
  ASSERT_EQ(off.size() + on.size() + other.size(), 9u);
  for (size_t i = 0; i < off.size(); ++i) {
    EXPECT_GT(Relative(on[i].loss, off[i].loss), 1e-4) << "step " << i;
    EXPECT_GT(Relative(other[i].loss, on[i].loss), 1e-4) << "step " << i;
  }
}

class LayoutTest : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(LayoutTest, LossesAreThoseOfOneRank) {
  for (const char* dropout : {"model.set=dropout=0.0", "model.set=dropout=0.1"}) {
    const std::vector<StepReport> one = TrainOracle({dropout}, 40);
    std::vector<std::string> overrides = GetParam();
    overrides.push_back(dropout);
    const std::vector<StepReport> many = TrainOracle(overrides, 40);
    ASSERT_EQ(one.size(), 40u);
    ASSERT_EQ(many.size(), 40u);
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_LT(Relative(many[i].loss, one[i].loss), 2e-5) << dropout << " step " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, LayoutTest,
                         testing::Values(std::vector<std::string>{"dist.data=2"},
                                         std::vector<std::string>{"dist.tensor=2"},
                                         std::vector<std::string>{"dist.tensor=4"},
                                         std::vector<std::string>{"dist.data=2", "dist.tensor=2"},
                                         std::vector<std::string>{"dist.data=4"},
                                         std::vector<std::string>{"dist.context=2", "dist.tensor=2"}));

// In bfloat16 a last bit of a float32 that differs now and then rounds an activation the other way, and pending sums
// are rounded by themselves: every logit may be another one, by up to 2^-9 of it. A loss is the mean over 256 labels,
// whose errors do not add up: 2^-9 / sqrt(256). That is their standard deviation; the largest of 20 steps has three of
// them.
constexpr double kOfBFloat16 = 3 * 0x1p-13;

class BFloat16Test : public testing::TestWithParam<const char*> {};

TEST_P(BFloat16Test, LayoutsAgree) {
  const std::string narrow = GetParam();
  const std::vector<StepReport> wide = TrainOracle({}, 20), one = TrainOracle({narrow}, 20);
  const std::vector<StepReport> many = TrainOracle({narrow, "dist.data=2", "dist.tensor=2"}, 20);
  ASSERT_EQ(wide.size() + one.size() + many.size(), 60u);
  double changed = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_LT(Relative(many[i].loss, one[i].loss), kOfBFloat16) << "step " << i;
    changed = std::max(changed, Relative(one[i].loss, wide[i].loss));
  }
  EXPECT_GT(changed, 1e-5);
  EXPECT_LT(changed, 2e-4);
}

INSTANTIATE_TEST_SUITE_P(Residuals, BFloat16Test,
                         testing::Values("precision.compute=BF16", "precision={compute: BF16 residual: F32}"));

class MicroBatchTest : public testing::TestWithParam<const char*> {};

// A global batch of 8 as 1 x 8, 2 x 4 and 4 x 2.
TEST_P(MicroBatchTest, LossesDoNotDependOnHowTheBatchIsCut) {
  for (const char* dropout : {"model.set=dropout=0.0", "model.set=dropout=0.1"}) {
    const std::vector<StepReport> one = TrainOracle({"batch.global=8", "batch.micro=8", dropout}, 20);
    const std::vector<StepReport> cut = TrainOracle({"batch.global=8", GetParam(), dropout}, 20);
    ASSERT_EQ(one.size(), 20u);
    ASSERT_EQ(cut.size(), 20u);
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_LT(Relative(cut[i].loss, one[i].loss), 2e-5) << dropout << " step " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuts, MicroBatchTest, testing::Values("batch.micro=4", "batch.micro=2", "batch.micro=1"));

}  // namespace
}  // namespace weft::tests
