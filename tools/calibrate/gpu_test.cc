// What weft calibrate measures on a GPU, on the emulated driver: that the kernels run, and that graphs are replayed. No
// number of seconds means anything here.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"
#include "tools/calibrate/bench.h"
#include "tools/calibrate/cases.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/steps.h"

namespace weft::calibrate {
namespace {

std::vector<plan::Plan> SmallPlans() {
  std::vector<plan::Plan> plans;
  for (int layers : {1, 2, 1}) {
    const absl::StatusOr<plan::Plan> plan =
        tests::CompileJob("models/gpt2/tiny.job",
                          {"batch={global: 2 micro: 2}", "model.set=seq=8", "model.set=hidden=16", "model.set=heads=2",
                           "model.set=positions=8", "model.set=layers=" + std::to_string(layers)},
                          "tests/cuda/one_gpu.cluster");
    EXPECT_TRUE(plan.ok()) << plan.status();
    plans.push_back(*plan);
  }
  return plans;
}

TEST(CalibrateTest, StepsRunWithGraphsAndWithout) {
  tests::EmulatedGpu gpu;
  Measured measured;
  const std::vector<plan::Plan> plans = SmallPlans();
  ASSERT_EQ(MeasureSteps(plans, {.kernels = &gpu.kernels, .device = gpu.device.get()}, measured), absl::OkStatus());
  ASSERT_EQ(measured.small_steps.size(), 2u);
  ASSERT_EQ(measured.graph_steps.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(measured.graph_steps[i].kernels.size(), measured.small_steps[i].kernels.size());
    EXPECT_GT(measured.graph_steps[i].seconds, 0);
  }
  EXPECT_GT(gpu.driver.replays(), 0);
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  // Faster with graphs, whatever the emulation took.
  for (TimedStep& step : measured.graph_steps) step.seconds = 1e-3 + 1e-6 * static_cast<double>(step.kernels.size());
  for (TimedStep& step : measured.small_steps) step.seconds = 1e-3 + 5e-6 * static_cast<double>(step.kernels.size());
  Cluster cluster = plans[0].header().cluster();
  // Kernels that take no time, so that nothing but launches is left.
  cluster.mutable_device()->set_contraction_flops(1e30);
  cluster.mutable_device()->set_other_flops(1e30);
  cluster.mutable_device()->set_memory_bytes_s(1e30);
  ASSERT_EQ(Fit(measured, &cluster), absl::OkStatus());
  EXPECT_NEAR(cluster.device().launch_s(), 5e-6, 1e-8);
  EXPECT_NEAR(cluster.device().graph_launch_s(), 1e-6, 1e-8);
}

TEST(CalibrateTest, AttentionRunsInEveryShape) {
  tests::EmulatedGpu gpu;
  // The emulation opens and closes all memory around every kernel.
  constexpr size_t kFew = size_t{1} << 20;
  absl::StatusOr<std::unique_ptr<Bench>> bench = Bench::Create(gpu.kernels, *gpu.device, {.near_bytes = kFew});
  ASSERT_TRUE(bench.ok()) << bench.status();
  for (const char* type : {"f32", "tf32", "bf16", "f16"}) {
    for (Case& made : AttentionCases({8}, type, 8)) ASSERT_EQ((*bench)->Add(std::move(made)), absl::OkStatus());
  }
  ASSERT_EQ((*bench)->Round(Clock::now()), absl::OkStatus());
  EXPECT_EQ((*bench)->Times().size(), 4u * 16);
  EXPECT_GT(gpu.driver.replays(), 0);
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
}

}  // namespace
}  // namespace weft::calibrate
