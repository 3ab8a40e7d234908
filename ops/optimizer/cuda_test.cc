#include <cmath>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::Bound;
using weft::testing::EmulatedGpu;
using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::Values;

const KernelRegistry& Cpu() { return Registered<&RegisterOptimizerKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterOptimizerCudaKernels>(); }

const TensorSpec kScalar = TensorSpec::Whole(DType::kF32, {});
TensorSpec Vector(int64_t n, DType type = DType::kF32) { return TensorSpec::Whole(type, {n}); }

// Formulas of some ten roundings, that compilers may fuse in different ways.
constexpr Bound kFormula{.relative = 0x1.0p-20, .absolute = 0x1.0p-22};

TEST(OptimizerCudaTest, UpdatesAgreeWithTheirTwins) {
  for (int64_t n : {1, 7, 2050}) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
      const TensorSpec p = Vector(n), g = Vector(n, type);
      const auto a = RandomValues(n, 1), b = RandomValues(n, 2, -1, 1, type), m = RandomValues(n, 3),
                 v = RandomValues(n, 4, 0, 1);
      KernelSpec spec{.name = "sgd", .inputs = {p, g, kScalar, kScalar}, .outputs = {p}};
      spec.attributes = Attributes({{"weight_decay", 0.1},
                                    {"momentum", 0.9},
                                    {"beta1", 0.9},
                                    {"beta2", 0.95},
                                    {"eps", 1e-8},
                                    {"decoupled", int64_t{0}}});
      ExpectTwins(Cpu(), Cuda(), spec, {a, b, {0.1}, {0.5}}, kFormula, {}, {{0, 0}});
      spec.name = "sgd_momentum";
      spec.inputs = {p, g, p, kScalar, kScalar};
      spec.outputs = {p, p};
      ExpectTwins(Cpu(), Cuda(), spec, {a, b, m, {0.1}, {0.5}}, kFormula, {}, {{0, 0}, {2, 1}});
      spec.name = "adam";
      spec.inputs = {p, g, p, p, kScalar, kScalar};
      spec.outputs = {p, p, p};
      for (int64_t decoupled : {0, 1}) {
        spec.attributes.Set("decoupled", decoupled);
        ExpectTwins(Cpu(), Cuda(), spec, {a, b, m, v, {0.1}, {0.5}}, kFormula, {.step = 4}, {{0, 0}, {2, 1}, {3, 2}});
      }
    }
  }
}

struct UpdateCase {
  KernelSpec spec;
  std::vector<Values> inputs;
  std::vector<std::pair<int, int>> in_place;  // (old, new)
};

std::vector<UpdateCase> UpdateCases(int64_t n, DType type) {
  const TensorSpec p = Vector(n), g = Vector(n, type);
  const auto a = RandomValues(n, 1), b = RandomValues(n, 2, -1, 1, type), m = RandomValues(n, 3),
             v = RandomValues(n, 4, 0, 1);
  std::vector<UpdateCase> cases = {
      {{.name = "sgd", .inputs = {p, g, kScalar, kScalar}, .outputs = {p}}, {a, b, {0.1}, {0.5}}, {{0, 0}}},
      {{.name = "sgd_momentum", .inputs = {p, g, p, kScalar, kScalar}, .outputs = {p, p}},
       {a, b, m, {0.1}, {0.5}},
       {{0, 0}, {2, 1}}},
      {{.name = "adam", .inputs = {p, g, p, p, kScalar, kScalar}, .outputs = {p, p, p}},
       {a, b, m, v, {0.1}, {0.5}},
       {{0, 0}, {2, 1}, {3, 2}}}};
  for (UpdateCase& it : cases) {
    it.spec.attributes =
        Attributes({{"momentum", 0.9}, {"beta1", 0.9}, {"beta2", 0.95}, {"eps", 1e-8}, {"decoupled", 1.0}});
    it.spec.inputs.push_back(kScalar);  // the step
  }
  return cases;
}

// The step that an update is given counts, not that of the run.
TEST(OptimizerCudaTest, UpdatesTakeTheStepThatTheyAreGiven) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (UpdateCase& it : UpdateCases(2050, type)) {
      it.inputs.push_back({3});
      ExpectTwins(Cpu(), Cuda(), it.spec, it.inputs, kFormula, {.step = 40});
      ExpectTwins(Cpu(), Cuda(), it.spec, it.inputs, kFormula, {.step = 40}, it.in_place);
    }
  }
}

// With step 0 nothing changes, whatever the gradient is.
TEST(OptimizerCudaTest, UpdatesOfASkippedStepKeepEverything) {
  for (UpdateCase& it : UpdateCases(2050, DType::kF16)) {
    it.inputs[1].assign(it.inputs[1].size(), INFINITY);
    it.inputs.back() = {std::nan("")};  // the scale
    it.inputs.push_back({0});
    for (const auto& in_place : {std::vector<std::pair<int, int>>{}, it.in_place}) {
      const auto kept = RunGpuKernel(Cuda(), it.spec, it.inputs, {.step = 40}, in_place);
      ASSERT_TRUE(kept.ok()) << kept.status();
      for (auto [from, to] : it.in_place) EXPECT_EQ((*kept)[to], it.inputs[from]) << it.spec.name;
    }
  }
}

TEST(OptimizerCudaTest, RefusesOtherGradients) {
  EmulatedGpu gpu;
  for (UpdateCase& it : UpdateCases(2, DType::kF64)) {
    it.spec.gpu = &gpu;
    EXPECT_EQ(Cuda().Create(it.spec).status().message(),
              it.spec.name + ": gradient: expected f32, bf16 or f16, got f64[2]");
  }
}

TEST(OptimizerCudaTest, ClipScaleTakesTheLossScaleOut) {
  for (double clip : {0.0, 0.5}) {
    KernelSpec spec{.name = "clip_scale", .inputs = {kScalar, kScalar, kScalar}, .outputs = {kScalar, kScalar}};
    spec.attributes.Set("clip_norm", clip);
    for (double square_sum : {4 * 0x1.0p20, double{INFINITY}, std::nan("")}) {
      ExpectTwins(Cpu(), Cuda(), spec, {{square_sum}, {3}, {0x1.0p10}}, {.relative = 0x1.0p-23});
    }
  }
}

TEST(OptimizerCudaTest, LossScaleAgreesWithItsTwin) {
  KernelSpec spec{.name = "loss_scale",
                  .inputs = {kScalar, kScalar, kScalar, kScalar},
                  .outputs = {kScalar, kScalar, kScalar, kScalar}};
  EmulatedGpu gpu;
  spec.gpu = &gpu;
  EXPECT_EQ(Cuda().Create(spec).status().message(),
            "loss_scale: attribute `growth_factor`: expected a float, got none");
  spec.attributes = Attributes({{"growth_factor", 2.0},
                                {"backoff_factor", 0.5},
                                {"growth_interval", int64_t{3}},
                                {"min", 1.0},
                                {"max", 1024.0}});
  for (double square_sum : {9.0, double{INFINITY}, std::nan("")}) {
    for (double scale : {1.0, 64.0, 1024.0}) {
      for (double good : {0, 2}) {
        for (const auto& in_place : {std::vector<std::pair<int, int>>{}, {{1, 1}, {2, 2}, {3, 3}}}) {
          ExpectTwins(Cpu(), Cuda(), spec, {{square_sum}, {scale}, {good}, {3}}, {}, {.step = 8}, in_place);
        }
      }
    }
  }
}

TEST(OptimizerCudaTest, ScalarsAgreeWithTheirTwins) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (int64_t n : {1, 31, 70001}) {
      ExpectTwins(Cpu(), Cuda(), {.name = "square_sum", .inputs = {Vector(n, type)}, .outputs = {kScalar}},
                  {RandomValues(n, 1, -1, 1, type)}, {.relative = 0x1.0p-23});
    }
  }
  for (double clip : {0.0, 1.0, 100.0}) {
    KernelSpec spec{.name = "clip_scale", .inputs = {kScalar, kScalar}, .outputs = {kScalar, kScalar}};
    spec.attributes.Set("clip_norm", clip);
    ExpectTwins(Cpu(), Cuda(), spec, {{400}, {5}}, {.relative = 0x1.0p-23});
  }
  for (int64_t step : {0, 5, 60, 200}) {
    KernelSpec spec{.name = "learning_rate", .outputs = {kScalar}};
    spec.attributes = Attributes({{"lr", 0.5},
                                  {"schedule", std::string("warmup_cosine")},
                                  {"warmup", int64_t{10}},
                                  {"total", int64_t{110}},
                                  {"min_ratio", 0.1}});
    ExpectTwins(Cpu(), Cuda(), spec, {}, {}, {.step = step});
  }
}

TEST(OptimizerCudaTest, Accumulate) {
  for (int64_t micro_batch : {0, 1}) {
    const KernelSpec spec{.name = "accumulate", .inputs = {Vector(1031), Vector(1031)}, .outputs = {Vector(1031)}};
    ExpectTwins(Cpu(), Cuda(), spec, {RandomValues(1031, 1), RandomValues(1031, 2)}, {}, {.micro_batch = micro_batch},
                {{1, 0}});
  }
}

}  // namespace
}  // namespace weft
