// The models of the zoo beside Hugging Face's transformers, which trained the same weights on the same tokens in
// float64 (see README.md), and their layouts beside one rank.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

constexpr int kSteps = 10;
using Keys = std::vector<std::string>;

const char* const kModels[] = {"llama"};

std::vector<StepReport> TrainModel(const std::string& model, const Keys& keys) {
  const std::string folder = "tests/zoo/";
  TrainOptions options;
  options.job = folder + model + ".job";
  options.overrides = keys;
  options.data = "tests/oracle/tokens.bin";
  options.init = folder + model + ".safetensors";
  options.steps = kSteps;
  absl::StatusOr<std::vector<StepReport>> reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>(kSteps);
}

double Relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

class ModelTest : public testing::TestWithParam<const char*> {};

TEST_P(ModelTest, LossesAndGradientNormsAreThoseOfTransformers) {
  const std::vector<StepReport> reports = TrainModel(GetParam(), {});
  std::ifstream in("tests/zoo/" + std::string(GetParam()) + "_losses.txt");
  int step;
  double loss, norm;
  for (int i = 0; i < kSteps; ++i) {
    ASSERT_TRUE(in >> step >> loss >> norm) << "step " << i;
    EXPECT_EQ(step, i);
    EXPECT_LT(Relative(reports[i].loss, loss), 1e-5) << "step " << i;
    EXPECT_LT(Relative(reports[i].grad_norm, norm), 1e-4) << "step " << i;
  }
}

// Logits are about 1 and have some 20 roundings to bfloat16 behind them, each of 2^-9 at most. A loss is the mean over
// 256 labels, whose errors do not add up; of these, three standard deviations.
const double kOfBFloat16 = 3 * std::sqrt(20) * 0x1p-9 / std::sqrt(256);

TEST_P(ModelTest, LayoutsAgreeInBFloat16) {
  const std::string narrow = "precision.compute=BF16";
  const std::vector<StepReport> wide = TrainModel(GetParam(), {}), one = TrainModel(GetParam(), {narrow});
  const std::vector<StepReport> many = TrainModel(GetParam(), {narrow, "dist.data=2", "dist.tensor=2"});
  double changed = 0;
  for (int i = 0; i < kSteps; ++i) {
    EXPECT_LT(std::abs(many[i].loss - one[i].loss), kOfBFloat16) << "step " << i;
    EXPECT_LT(std::abs(one[i].loss - wide[i].loss), kOfBFloat16) << "step " << i;
    changed = std::max<double>(changed, std::abs(one[i].loss - wide[i].loss));
  }
  EXPECT_GT(changed, 0);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ModelTest, testing::ValuesIn(kModels),
                         [](const auto& info) { return std::string(info.param); });

struct Layout {
  const char* name;
  Keys keys;
};

const Layout kLayouts[] = {
    {"tensor", {"dist.tensor=2"}},
    {"data_tensor", {"dist.data=2", "dist.tensor=2"}},
    {"context", {"dist.context=2"}},
    {"stages_micro_1", {"dist.pipeline=2", "batch.micro=1"}},
    {"stages_micro_4", {"dist.pipeline=2", "batch.micro=4"}},
    {"zero_3", {"dist.data=2", "zero.stage=3"}},
    {"recomputed", {"dist.tensor=2", "recompute.policy=FULL"}},
};

class LayoutTest : public testing::TestWithParam<std::tuple<const char*, Layout>> {};

TEST_P(LayoutTest, LossesAreThoseOfOneRank) {
  const auto& [model, layout] = GetParam();
  const std::vector<StepReport> one = TrainModel(model, {}), many = TrainModel(model, layout.keys);
  for (int i = 0; i < kSteps; ++i) EXPECT_LT(Relative(many[i].loss, one[i].loss), 2e-5) << "step " << i;
}

INSTANTIATE_TEST_SUITE_P(Zoo, LayoutTest, testing::Combine(testing::ValuesIn(kModels), testing::ValuesIn(kLayouts)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace weft::tests
