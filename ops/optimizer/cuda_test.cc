#include <cmath>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::EmulatedGpu;
using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;

const KernelRegistry& Cpu() { return Registered<&RegisterOptimizerKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterOptimizerCudaKernels>(); }

const TensorSpec kScalar = TensorSpec::Whole(DType::kF32, {});
TensorSpec Vector(int64_t n, DType type = DType::kF32) { return TensorSpec::Whole(type, {n}); }

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
