// A model trained on an emulated GPU: the losses of the CPU, also with several
// virtual ranks on the one GPU.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 4;

TrainOptions Options(const Overrides& layout) {
  TrainOptions options;
  options.job = "models/mlp/mlp.job";
  options.overrides = {"batch={global: 8 micro: 4}", "model.set=seq=8", "model.set=hidden=16", "model.set=inner=24",
                       "optimizer.clip_norm=1.0"};
  options.overrides.insert(options.overrides.end(), layout.begin(), layout.end());
  options.data = "models/mlp/mlp.mlir";
  options.steps = kSteps;
  return options;
}

std::vector<StepReport> OnCpu() {
  absl::StatusOr<std::vector<StepReport>> reports = Train(Options({}));
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>();
}

absl::StatusOr<std::vector<StepReport>> OnGpu(EmulatedGpu& gpu, const Overrides& layout) {
  TrainOptions options = Options(layout);
  options.cluster = "tests/cuda/one_gpu.cluster";
  options.device = gpu.device.get();
  options.kernels = &gpu.kernels;
  return Train(options);
}

class MlpTest : public testing::TestWithParam<Overrides> {};

TEST_P(MlpTest, LossesAreThoseOfTheCpu) {
  static const auto* cpu = new std::vector<StepReport>(OnCpu());
  ASSERT_EQ(cpu->size(), size_t{kSteps});
  EmulatedGpu gpu;
  const auto reports = OnGpu(gpu, GetParam());
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR((*reports)[step].loss, (*cpu)[step].loss, 2e-5 * (*cpu)[step].loss) << step;
    EXPECT_NEAR((*reports)[step].grad_norm, (*cpu)[step].grad_norm, 1e-4 * (*cpu)[step].grad_norm) << step;
  }
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  EXPECT_GT(gpu.driver.launches(), 0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, MlpTest,
                         testing::Values(Overrides{}, Overrides{"dist.data=2"}, Overrides{"dist.pipeline=2"},
                                         Overrides{"dist.data=2", "zero.stage=2"}));

TEST(MlpMemoryTest, APlanThatDoesNotFitIsRefusedWithTheSizes) {
  EmulatedGpu gpu({.memory_bytes = 100000});
  const auto reports = OnGpu(gpu, {});
  EXPECT_EQ(reports.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(reports.status().message()),
              testing::MatchesRegex("rank 0: GPU 0 \\(emulated\\): expected at most the 100000 bytes free of 100000, "
                                    "got [0-9]+"));
}

TEST(MlpDeterminismTest, TheSameTwiceBitForBit) {
  std::vector<StepReport> first;
  for (uint64_t seed : {1, 2}) {
    EmulatedGpu gpu({.seed = seed});
    const auto reports = OnGpu(gpu, {"dist.data=2"});
    ASSERT_TRUE(reports.ok()) << reports.status();
    for (size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].loss, (*reports)[i].loss);
      EXPECT_EQ(first[i].grad_norm, (*reports)[i].grad_norm);
    }
    first = *reports;
  }
}

}  // namespace
}  // namespace weft::tests
