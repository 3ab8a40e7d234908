// GPT-2 trained on an emulated GPU: the losses of the CPU on one rank, in every
// layout with as many virtual ranks on the one GPU.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 3;

struct Case {
  const char* name;
  Overrides layout;
  bool half = false;     // bf16 operands of contractions
  bool library = false;  // matrix products, and what joins them, by the vendor's
};

TrainOptions Options(const Case& it) {
  TrainOptions options;
  options.job = "models/gpt2/tiny.job";
  options.overrides = {"batch={global: 8 micro: 2}", "model.set=seq=8",        "model.set=positions=8",
                       "model.set=hidden=16",        "model.set=heads=2",      "model.set=layers=2",
                       "model.set=dropout=0.1",      "optimizer.clip_norm=1.0"};
  options.overrides.insert(options.overrides.end(), it.layout.begin(), it.layout.end());
  if (it.half) options.overrides.push_back("precision.compute=BF16");
  options.data = "models/gpt2/gpt2.mlir";
  options.steps = kSteps;
  return options;
}

// On one rank of the host.
std::vector<StepReport> OnCpu(bool half) {
  absl::StatusOr<std::vector<StepReport>> reports = Train(Options({.half = half}));
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>(kSteps);
}

class Gpt2Test : public testing::TestWithParam<Case> {};

TEST_P(Gpt2Test, LossesAreThoseOfTheCpu) {
  const std::vector<StepReport> cpu = OnCpu(GetParam().half);
  EmulatedGpu gpu({}, GetParam().library);
  TrainOptions options = Options(GetParam());
  options.cluster = "tests/cuda/one_gpu.cluster";
  options.device = gpu.device.get();
  options.kernels = &gpu.kernels;
  const auto reports = Train(options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  // Activations and gradients that are rounded to eight bits, in sums of another order, may be rounded otherwise.
  const double loss = GetParam().half ? 1e-3 : 2e-5, norm = GetParam().half ? 2e-2 : 1e-4;
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR((*reports)[step].loss, cpu[step].loss, loss * cpu[step].loss) << step;
    EXPECT_NEAR((*reports)[step].grad_norm, cpu[step].grad_norm, norm * cpu[step].grad_norm) << step;
  }
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  EXPECT_GT(gpu.driver.launches(), 0);
}

const Case kCases[] = {
    {"one_rank", {}},
    {"data", {"dist.data=2"}},
    {"tensor", {"dist.tensor=2"}},
    {"pipeline", {"dist.pipeline=2", "pipeline.schedule=ONE_F_ONE_B"}},
    {"zero_1", {"dist.data=2", "zero.stage=1"}},
    {"zero_2", {"dist.data=2", "zero.stage=2"}},
    {"zero_3", {"dist.data=2", "zero.stage=3"}},
    {"three_axes", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}},
    {"recompute", {"recompute.policy=FULL"}},
    {"library", {}, /*half=*/false, /*library=*/true},
    {"library_tensor", {"dist.tensor=2"}, /*half=*/false, /*library=*/true},
    {"apart", {"graph.fusion=false"}},
    {"apart_tensor", {"dist.tensor=2", "graph.fusion=false"}},
    {"bf16", {}, /*half=*/true},
    {"bf16_library", {}, /*half=*/true, /*library=*/true},
    {"bf16_three_axes", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}, /*half=*/true},
};

INSTANTIATE_TEST_SUITE_P(Layouts, Gpt2Test, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::tests
