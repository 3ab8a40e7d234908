// Joined kernels change no bit of a training run on the host, in any layout, and
// need fewer kernels, buffers and bytes.
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/plan/plan.pb.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 3;

struct Case {
  const char* name;
  Overrides layout;
};

Overrides With(const Overrides& layout, bool fusion) {
  Overrides overrides = {"batch={global: 8 micro: 4}", "model.set=seq=16",       "model.set=positions=16",
                         "model.set=hidden=32",        "model.set=heads=2",      "model.set=layers=2",
                         "model.set=dropout=0.1",      "optimizer.clip_norm=1.0"};
  overrides.insert(overrides.end(), layout.begin(), layout.end());
  if (!fusion) overrides.push_back("graph.fusion=false");
  return overrides;
}

class FusionTest : public testing::TestWithParam<Case> {};

TEST_P(FusionTest, ChangesNoBit) {
  TrainOptions options;
  options.job = "models/gpt2/tiny.job";
  options.data = "models/gpt2/gpt2.mlir";
  options.steps = kSteps;
  options.threads = 2;
  options.overrides = With(GetParam().layout, true);
  const auto fused = Train(options);
  ASSERT_TRUE(fused.ok()) << fused.status();
  options.overrides = With(GetParam().layout, false);
  const auto apart = Train(options);
  ASSERT_TRUE(apart.ok()) << apart.status();
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_EQ((*fused)[step].loss, (*apart)[step].loss) << step;
    EXPECT_EQ((*fused)[step].grad_norm, (*apart)[step].grad_norm) << step;
  }
}

const Case kCases[] = {
    {"one_rank", {}},
    {"no_dropout", {"model.set=dropout=0.0"}},
    {"tensor", {"dist.tensor=2"}},
    {"data_tensor", {"dist.data=2", "dist.tensor=2"}},
    {"pipeline", {"dist.pipeline=2", "pipeline.schedule=ONE_F_ONE_B"}},
    {"zero_bubble", {"dist.pipeline=2", "pipeline.schedule=ZERO_BUBBLE"}},
    {"zero_3", {"dist.data=2", "zero.stage=3"}},
    {"recompute_full", {"recompute.policy=FULL"}},
    {"recompute_selective", {"recompute.policy=SELECTIVE"}},
    {"bf16", {"precision.compute=BF16"}},
    {"f16_tensor", {"precision={compute: F16 loss_scale { initial: 64 }}", "dist.tensor=2"}},
};

INSTANTIATE_TEST_SUITE_P(Layouts, FusionTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Of one rank's plan, for a GPU.
struct Sizes {
  std::map<std::string, int> kernels;  // by name
  int all = 0, buffers = 0;
  double bytes = 0;  // that kernels read and write, of a step
  double seconds = 0;
};

Sizes SizesOf(bool fusion, Overrides more = {}) {
  Sizes sizes;
  more.push_back("model.set=hidden=64");
  const auto plan = CompileJob("models/gpt2/tiny.job", With(more, fusion), "clusters/8xh200.cluster");
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return sizes;
  const plan::Stage& stage = plan->stages(0);
  // An alias has no bytes of its own.
  for (const plan::Buffer& buffer : stage.buffers()) sizes.buffers += buffer.alias_of() == 0;
  for (const plan::Actor& actor : stage.actors()) {
    for (const plan::Kernel& kernel : actor.kernels()) {
      ++sizes.kernels[kernel.name()];
      ++sizes.all;
      sizes.bytes += kernel.cost().bytes() * (actor.section() == plan::Actor::MICRO ? 2 : 1);
    }
  }
  sizes.seconds = plan->prediction().step_s();
  return sizes;
}

// In bf16, with two micro-batches: no step begins with casts of parameters, unless each has its own kernels.
TEST(FusionPlanTest, UpdatesWriteNarrowCopies) {
  Sizes fused = SizesOf(true, {"precision.compute=BF16"}), apart = SizesOf(false, {"precision.compute=BF16"});
  EXPECT_EQ(fused.kernels["adam+cast"], 2);  // of what decays and what does not
  EXPECT_EQ(fused.kernels["adam"], 1);       // of norms, which are read in float32
  EXPECT_EQ(fused.kernels["cast"], 0);
  EXPECT_GT(apart.kernels["cast"], 0);
}

TEST(FusionPlanTest, HasFewerKernelsBuffersAndBytes) {
  Sizes fused = SizesOf(true), apart = SizesOf(false);
  EXPECT_EQ(fused.kernels["gelu"] + fused.kernels["gelu_grad"], 0);
  EXPECT_EQ(apart.kernels["gelu"] + apart.kernels["gelu_grad"], 4);
  EXPECT_EQ(fused.kernels["dropout"], 0);
  EXPECT_EQ(apart.kernels["dropout"], 10);
  EXPECT_EQ(fused.kernels["dropout+add+layer_norm"], 4);
  EXPECT_EQ(fused.kernels["add+dropout+layer_norm"], 1);       // of the embeddings
  EXPECT_EQ(fused.kernels["layer_norm_grad+add+dropout"], 1);  // of the embeddings
  EXPECT_EQ(fused.kernels["layer_norm_grad+add+dropout+reduce"], 3);
  EXPECT_EQ(fused.kernels["layer_norm_grad+dropout+reduce"], 1);
  EXPECT_EQ(fused.kernels["gelu_grad+reduce"], 2);
  // A layer's, forward: four biases, GELU, two dropouts and two additions to the stream; backward the same again but
  // for GELU, whose gradient is one kernel with the sum behind it. And the embeddings' addition and dropout, forward
  // and backward. The gradients of a layer's matrices but the one with whose product a bias's gradient is made, three,
  // add to their sums over the micro-batches. So does that of the head, to which the rows of the table then add.
  const int micro = 2 * (9 + 8) + 3 + 2 * 3 + 2;
  // Once a step, one kernel sums the squares of all gradients, and two update what decays and what does not.
  const int parameters = apart.kernels["square_sum"];
  EXPECT_EQ(apart.kernels["adam"], parameters);
  // Of each layer nothing cuts queries, keys and values out, or puts their gradients together.
  const int packed = 2 * (3 + 3 + 1);
  EXPECT_EQ(apart.kernels["slice"] - fused.kernels["slice"], 2 * 3);
  EXPECT_EQ(apart.kernels["pad"] - fused.kernels["pad"], 2 * 3);
  EXPECT_EQ(apart.kernels["add_n"] - fused.kernels["add_n"], 2 + 1);
  EXPECT_EQ(fused.kernels["square_sum"], 1);
  EXPECT_EQ(fused.kernels["adam"], 2);
  EXPECT_EQ(apart.all - fused.all, micro + packed + parameters + (parameters - 2));
  EXPECT_EQ(fused.kernels["accumulate_einsum"], 2 * 3 + 1);
  EXPECT_LT(fused.buffers, apart.buffers);
  EXPECT_LT(fused.bytes, 0.85 * apart.bytes);
  EXPECT_LT(fused.seconds, apart.seconds);
}

}  // namespace
}  // namespace weft::tests
