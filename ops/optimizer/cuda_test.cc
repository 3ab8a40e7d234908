#include "ops/optimizer/cuda.h"

#include "gtest/gtest.h"
#include "ops/cuda/gpu_testing.h"
#include "ops/optimizer/cpu.h"

namespace weft {
namespace {

using weft::testing::Bound;
using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;

const KernelRegistry& Cpu() { return Registered<&RegisterOptimizerKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterOptimizerCudaKernels>(); }

const TensorSpec kScalar = TensorSpec::Whole(DType::kF32, {});
TensorSpec Vector(int64_t n, DType type = DType::kF32) { return TensorSpec::Whole(type, {n}); }

// Formulas of some ten roundings, that compilers may fuse in different ways.
constexpr Bound kFormula{.relative = 0x1.0p-20, .absolute = 0x1.0p-22};

TEST(OptimizerCudaTest, UpdatesAgreeWithTheirTwins) {
  for (int64_t n : {1, 7, 2050}) {
    for (DType type : {DType::kF32, DType::kBF16}) {
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

TEST(OptimizerCudaTest, ScalarsAgreeWithTheirTwins) {
  for (DType type : {DType::kF32, DType::kBF16}) {
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
