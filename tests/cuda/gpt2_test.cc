// GPT-2 trained on an emulated GPU: the losses of the CPU on one rank, in every
// layout with as many virtual ranks on the one GPU.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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
  std::string precision = "";  // of the job; empty: float32
  // How far the loss, and the norm of the gradients, may be from the CPU's.
  double loss = 2e-5, norm = 1e-4;
  int skipped = 0;       // steps, by a loss scale that was too large
  bool library = false;  // matrix products, what joins them, and attention of halves by the vendor's
  bool llama = false;    // whose head has a matrix of its own
};

TrainOptions Options(const Case& it) {
  TrainOptions options;
  options.job = "models/gpt2/tiny.job";
  options.overrides = {"batch={global: 8 micro: 2}", "model.set=seq=8",        "model.set=positions=8",
                       "model.set=hidden=16",        "model.set=heads=2",      "model.set=layers=2",
                       "model.set=dropout=0.1",      "optimizer.clip_norm=1.0"};
  if (it.llama) {
    options.job = "models/llama/tiny.job";
    options.overrides = {"batch={global: 8 micro: 2}", "model.set=seq=8",      "model.set=hidden=16",
                         "model.set=heads=2",          "model.set=kv_heads=1", "model.set=inner=16",
                         "optimizer.clip_norm=1.0"};
  }
  options.overrides.insert(options.overrides.end(), it.layout.begin(), it.layout.end());
  if (!it.precision.empty()) options.overrides.push_back("precision=" + it.precision);
  options.data = "models/gpt2/gpt2.mlir";
  options.tier_folder = testing::TempDir();
  options.steps = kSteps;
  return options;
}

// On one rank of the host.
std::vector<StepReport> OnCpu(const std::string& precision, bool llama) {
  absl::StatusOr<std::vector<StepReport>> reports = Train(Options({.precision = precision, .llama = llama}));
  EXPECT_TRUE(reports.ok()) << reports.status();
  return reports.ok() ? *reports : std::vector<StepReport>(kSteps);
}

class Gpt2Test : public testing::TestWithParam<Case> {};

TEST_P(Gpt2Test, LossesAreThoseOfTheCpu) {
  const std::vector<StepReport> cpu = OnCpu(GetParam().precision, GetParam().llama);
  EmulatedGpu gpu({}, GetParam().library);
  TrainOptions options = Options(GetParam());
  options.cluster = "tests/cuda/one_gpu.cluster";
  options.device = gpu.device.get();
  options.kernels = &gpu.kernels;
  const auto reports = Train(options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  int skipped = 0;
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR((*reports)[step].loss, cpu[step].loss, GetParam().loss * cpu[step].loss) << step;
    ASSERT_EQ(std::isfinite((*reports)[step].grad_norm), std::isfinite(cpu[step].grad_norm)) << step;
    if (std::isfinite(cpu[step].grad_norm)) {
      EXPECT_NEAR((*reports)[step].grad_norm, cpu[step].grad_norm, GetParam().norm * cpu[step].grad_norm) << step;
    } else {
      ++skipped;
    }
  }
  EXPECT_EQ(skipped, GetParam().skipped);
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  EXPECT_GT(gpu.driver.launches(), 0);
  EXPECT_EQ(gpu.cudnn.runs() > 0, GetParam().library && !GetParam().precision.empty());
  EXPECT_THAT(gpu.cudnn.refusals(), testing::IsEmpty());
}

// Activations and gradients that are rounded to 8 bits, or 11, in sums of another order, may be rounded otherwise.
Case BFloat16(const char* name, Overrides layout, const std::string& more = "") {
  return {name, std::move(layout), "{compute: BF16 " + more + "}", 1e-3, 2e-2};
}
Case ByLibrary(Case it) {
  it.library = true;
  return it;
}
Case Llama(Case it) {
  it.llama = true;
  return it;
}
Case Float16(const char* name, Overrides layout, const std::string& scale, int skipped) {
  return {name, std::move(layout), "{compute: F16 loss_scale { " + scale + " }}", 1.25e-4, 2.5e-3, skipped};
}
// The first scale is so large that no order of sums keeps the first step finite; the next one, 2^-16 of it, suits all.
constexpr char kOverflows[] = "initial: 1048576 backoff_factor: 1.52587890625e-5";

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
    {"ring", {"dist.context=2", "graph.ring=ALWAYS"}},
    {"turns", {"dist.tensor=2", "batch.overlap=2"}},
    {"state_on_the_host", {"zero.offload=OPTIMIZER"}},
    {"state_on_the_host_zero_1", {"dist.data=2", "zero.stage=1", "zero.offload=OPTIMIZER"}},
    {"updated_by_the_host", {"zero.offload=OPTIMIZER", "zero.update=HOST"}},
    {"updated_by_the_host_zero_2", {"dist.data=2", "zero.stage=2", "zero.offload=OPTIMIZER", "zero.update=HOST"}},
    {"parameters_updated_by_the_host", {"zero.offload=PARAMETERS", "zero.update=HOST"}},
    {"state_on_a_disk", {"zero.offload=OPTIMIZER", "zero.tier=disk"}},
    {"kept_on_the_host", {"recompute.offload=true"}},
    ByLibrary(
        BFloat16("below_bf16_library", {"zero.offload=OPTIMIZER", "recompute.offload=true", "recompute.tier=disk"})),
    BFloat16("updated_by_the_host_bf16", {"zero.offload=OPTIMIZER", "zero.update=HOST"}),
    Float16("updated_by_the_host_f16_overflows", {"zero.offload=OPTIMIZER", "zero.update=HOST"}, kOverflows, 1),
    ByLibrary({"library", {}}),
    ByLibrary({"library_tensor", {"dist.tensor=2"}}),
    {"apart", {"graph.fusion=false"}},
    {"apart_tensor", {"dist.tensor=2", "graph.fusion=false"}},
    // 16 rows, or 8.
    {"chunks", {"graph.loss_chunks=3"}},
    {"chunks_tensor", {"dist.tensor=2", "graph.loss_chunks=3"}},
    {"chunks_three_axes", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2", "graph.loss_chunks=3"}},
    {"chunks_zero_3", {"dist.data=2", "zero.stage=3", "graph.loss_chunks=3"}},
    {"chunks_apart", {"graph.loss_chunks=3", "graph.fusion=false"}},
    ByLibrary({"chunks_library", {"graph.loss_chunks=3"}}),
    ByLibrary(BFloat16("chunks_bf16_library", {"graph.loss_chunks=3"})),
    Float16("chunks_f16", {"graph.loss_chunks=3"}, "initial: 64", 0),
    Llama({"chunks_llama", {"graph.loss_chunks=3"}}),
    Llama({"chunks_llama_tensor", {"dist.tensor=2", "graph.loss_chunks=3"}}),
    Llama({"chunks_llama_zero_2", {"dist.data=2", "zero.stage=2", "graph.loss_chunks=3"}}),
    Llama({"chunks_llama_zero_bubble", {"dist.pipeline=2", "pipeline.schedule=ZERO_BUBBLE", "graph.loss_chunks=3"}}),
    BFloat16("bf16", {}),
    ByLibrary(BFloat16("bf16_library", {})),
    ByLibrary(BFloat16("bf16_library_three_axes", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"})),
    BFloat16("bf16_three_axes", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}),
    BFloat16("bf16_ring", {"dist.context=2", "graph.ring=ALWAYS"}),
    ByLibrary(BFloat16("bf16_library_ring", {"dist.context=4", "graph.ring=ALWAYS"})),
    BFloat16("bf16_wide_residuals", {"dist.tensor=2"}, "residual: F32"),
    Float16("f16", {}, "initial: 64", 0),
    ByLibrary(Float16("f16_library", {}, "initial: 64", 0)),
    Float16("f16_three_axes", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}, "initial: 64", 0),
    Float16("f16_zero_2", {"dist.data=2", "zero.stage=2"}, "initial: 64", 0),
    Float16("f16_overflows", {}, kOverflows, 1),
    Float16("f16_overflows_three_axes", {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}, kOverflows, 1),
};

INSTANTIATE_TEST_SUITE_P(Layouts, Gpt2Test, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::tests
