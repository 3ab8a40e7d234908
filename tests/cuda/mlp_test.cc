// A model trained on an emulated GPU, in float32 and in float16: the losses of the
// CPU, also with several virtual ranks on the one GPU.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 4;

// A scale of 2^30 that only the first step has, 2^7 from then on.
constexpr char kOverflows[] = "initial: 1073741824 max: 1073741824 backoff_factor: 0.00000011920928955078125";

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

void ExpectNear(const StepReport& got, const StepReport& want, int step) {
  EXPECT_NEAR(got.loss, want.loss, 2e-5 * want.loss) << step;
  EXPECT_NEAR(got.grad_norm, want.grad_norm, 1e-4 * want.grad_norm) << step;
}

class MlpTest : public testing::TestWithParam<Overrides> {};

TEST_P(MlpTest, LossesAreThoseOfTheCpu) {
  static const auto* cpu = new std::vector<StepReport>(OnCpu());
  ASSERT_EQ(cpu->size(), size_t{kSteps});
  EmulatedGpu gpu;
  const auto reports = OnGpu(gpu, GetParam());
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (int step = 0; step < kSteps; ++step) ExpectNear((*reports)[step], (*cpu)[step], step);
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  EXPECT_GT(gpu.driver.launches(), 0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, MlpTest,
                         testing::Values(Overrides{}, Overrides{"dist.data=2"}, Overrides{"dist.pipeline=2"},
                                         Overrides{"dist.data=2", "zero.stage=2"}));

TEST(MlpLibraryTest, LossesAreThoseOfTheCpuThroughCublasLt) {
  const std::vector<StepReport> cpu = OnCpu();
  ASSERT_EQ(cpu.size(), size_t{kSteps});
  EmulatedGpu gpu({}, /*libraries=*/true);
  const auto reports = OnGpu(gpu, {"dist.data=2"});
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (int step = 0; step < kSteps; ++step) {
    ExpectNear((*reports)[step], cpu[step], step);
  }
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  EXPECT_GT(gpu.cublaslt.products(), 0);
}

class MlpFloat16Test : public testing::TestWithParam<Overrides> {
 protected:
  static Overrides WithScale(const std::string& fields, Overrides overrides = {}) {
    overrides.push_back("precision={compute: F16 loss_scale { " + fields + " }}");
    return overrides;
  }
};

TEST_P(MlpFloat16Test, LossesAreThoseOfTheCpu) {
  const Overrides half = WithScale("initial: 64", GetParam());
  const auto wide = Train(Options({})), cpu = Train(Options(WithScale("initial: 64")));
  ASSERT_TRUE(wide.ok() && cpu.ok()) << cpu.status();
  EmulatedGpu gpu;
  const auto reports = OnGpu(gpu, half);
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (int step = 0; step < kSteps; ++step) ExpectNear((*reports)[step], (*cpu)[step], step);
  // Both add in one order, and a power of two as the scale rounds nothing: what differs is float16.
  EXPECT_NE((*cpu)[kSteps - 1].grad_norm, (*wide)[kSteps - 1].grad_norm);
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
}

// One step's scale is beyond float16: it is skipped with nothing changed, and the others go on as on the CPU.
TEST_P(MlpFloat16Test, AStepThatOverflowsIsSkipped) {
  const Overrides half = WithScale(kOverflows, GetParam());
  const auto cpu = Train(Options(WithScale(kOverflows)));
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  EmulatedGpu gpu;
  const auto reports = OnGpu(gpu, half);
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (const auto* it : {&*cpu, &*reports}) {
    EXPECT_FALSE(std::isfinite((*it)[0].grad_norm));
    for (int step = 1; step < kSteps; ++step) EXPECT_TRUE(std::isfinite((*it)[step].grad_norm)) << step;
  }
  EXPECT_NEAR((*reports)[0].loss, (*cpu)[0].loss, 2e-5 * (*cpu)[0].loss);
  for (int step = 1; step < kSteps; ++step) ExpectNear((*reports)[step], (*cpu)[step], step);
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Layouts, MlpFloat16Test, testing::Values(Overrides{}, Overrides{"dist.data=2"}));

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
