#include "ops/einsum/cuda.h"

#include "gtest/gtest.h"
#include "ops/cuda/gpu_testing.h"
#include "ops/einsum/cpu.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using Dims = std::vector<int64_t>;

const KernelRegistry& Cpu() { return Registered<&RegisterEinsumKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterEinsumCudaKernels>(); }

struct Case {
  const char* equation;
  Dims left, right, result;
  int64_t summands;
};

// Whole and odd tiles, transposed operands, results and batches in any order.
const Case kCases[] = {
    {"bsi,io->bso", {2, 5, 17}, {17, 70}, {2, 5, 70}, 17},
    {"bsi,io->bso", {1, 64, 32}, {32, 64}, {1, 64, 64}, 32},
    {"bso,io->bsi", {2, 5, 70}, {17, 70}, {2, 5, 17}, 70},
    {"bsi,bso->io", {2, 35, 17}, {2, 35, 66}, {17, 66}, 70},
    {"bhqd,bhkd->bhqk", {2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 5, 7}, 8},
    {"bshd,bthd->bhst", {2, 5, 3, 8}, {2, 7, 3, 8}, {2, 3, 5, 7}, 8},
    {"bsd,cdhe->cbhse", {2, 3, 4}, {3, 4, 2, 5}, {3, 2, 2, 3, 5}, 4},
    {"i,i->", {40}, {40}, {}, 40},
    {"i,j->ij", {3}, {5}, {3, 5}, 1},
};

TEST(EinsumCudaTest, AgreesWithItsTwin) {
  for (const Case& it : kCases) {
    for (DType type : {DType::kF32, DType::kBF16}) {
      for (DType result : {DType::kF32, type}) {
        KernelSpec spec{.name = "einsum",
                        .inputs = {TensorSpec::Whole(type, it.left), TensorSpec::Whole(type, it.right)},
                        .outputs = {TensorSpec::Whole(result, it.result)}};
        spec.attributes.Set("equation", std::string(it.equation));
        const double unit = result == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-24;
        const double absolute = static_cast<double>(it.summands) * (it.summands + 1) * 0x1.0p-24;
        ExpectTwins(Cpu(), Cuda(), spec,
                    {RandomValues(spec.inputs[0].elements(), 1, -1, 1, type),
                     RandomValues(spec.inputs[1].elements(), 2, -1, 1, type)},
                    {.relative = 2 * unit, .absolute = absolute});
      }
    }
  }
}

TEST(EinsumCudaTest, RefusesOtherTypes) {
  weft::testing::EmulatedGpu gpu;
  KernelSpec spec{.name = "einsum",
                  .inputs = {TensorSpec::Whole(DType::kF32, {2}), TensorSpec::Whole(DType::kBF16, {2})},
                  .outputs = {TensorSpec::Whole(DType::kF32, {})},
                  .gpu = &gpu};
  EXPECT_EQ(Cuda().Create(spec).status().message(),
            "einsum: expected operands of f32, bf16 or f16 and a result of that type or f32, got f32[2], bf16[2] and "
            "f32[]");
}

}  // namespace
}  // namespace weft
