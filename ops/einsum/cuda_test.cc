#include <cmath>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

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

struct EpilogueCase {
  const char* epilogue;
  const char* equation;
  Dims left, right, result;
  Dims input, output;  // the third input and the second output, or none
};

const EpilogueCase kEpilogues[] = {
    {"add", "bso,io->bsi", {2, 35, 66}, {17, 66}, {2, 35, 17}, {2, 35, 17}, {}},
    {"add", "bsd,cdhe->cbhse", {2, 3, 4}, {3, 4, 2, 5}, {3, 2, 2, 3, 5}, {3, 2, 2, 3, 5}, {}},
    {"bias", "bsi,io->bso", {2, 5, 17}, {17, 70}, {2, 5, 70}, {70}, {}},
    {"bias", "bsi,icnd->bscnd", {2, 5, 8}, {8, 3, 2, 4}, {2, 5, 3, 2, 4}, {3, 2, 4}, {}},
    {"bias", "bsd,cdhe->cbhse", {2, 3, 4}, {3, 4, 2, 5}, {3, 2, 2, 3, 5}, {5}, {}},
    {"bias gelu", "bsi,io->bso", {2, 35, 17}, {17, 66}, {2, 35, 66}, {66}, {}},
    {"bias gelu keep", "bsi,io->bso", {2, 35, 17}, {17, 66}, {2, 35, 66}, {66}, {2, 35, 66}},
    {"gelu", "bsi,io->bso", {2, 5, 17}, {17, 70}, {2, 5, 70}, {}, {}},
    {"gelu keep", "bsi,io->bso", {2, 5, 17}, {17, 70}, {2, 5, 70}, {}, {2, 5, 70}},
    {"sum_rhs", "bsi,bso->io", {2, 35, 17}, {2, 35, 66}, {17, 66}, {}, {66}},
    {"sum_lhs", "bso,bsi->io", {2, 35, 66}, {2, 35, 17}, {17, 66}, {}, {66}},
};

KernelSpec SpecOf(const EpilogueCase& it, DType operands, DType result) {
  KernelSpec spec{.name = "einsum",
                  .inputs = {TensorSpec::Whole(operands, it.left), TensorSpec::Whole(operands, it.right)},
                  .outputs = {TensorSpec::Whole(result, it.result)}};
  if (!it.input.empty()) spec.inputs.push_back(TensorSpec::Whole(result, it.input));
  if (!it.output.empty()) spec.outputs.push_back(TensorSpec::Whole(result, it.output));
  spec.attributes = {{"equation", std::string(it.equation)}, {"epilogue", std::string(it.epilogue)}};
  return spec;
}

std::vector<weft::testing::Values> InputsOf(const KernelSpec& spec) {
  std::vector<weft::testing::Values> inputs;
  for (const TensorSpec& tensor : spec.inputs) {
    inputs.push_back(RandomValues(tensor.elements(), inputs.size() + 1, -1, 1, DType::kBF16));
  }
  return inputs;
}

TEST(EinsumCudaTest, EpiloguesAgreeWithTheirTwins) {
  for (const EpilogueCase& it : kEpilogues) {
    SCOPED_TRACE(std::string(it.epilogue) + " of " + it.equation);
    const KernelSpec spec = SpecOf(it, DType::kF32, DType::kF32);
    // Sums of 70 numbers below 1.
    ExpectTwins(Cpu(), Cuda(), spec, InputsOf(spec), {.relative = 0x1.0p-22, .absolute = 70 * 71 * 0x1.0p-24});
  }
}

// The same numbers in f32, rounded.
TEST(EinsumCudaTest, EpiloguesOfHalvesAreThoseOfFloatsRounded) {
  for (const EpilogueCase& it : kEpilogues) {
    SCOPED_TRACE(std::string(it.epilogue) + " of " + it.equation);
    const KernelSpec wide = SpecOf(it, DType::kF32, DType::kF32);
    const auto want = RunGpuKernel(Cuda(), wide, InputsOf(wide));
    ASSERT_TRUE(want.ok()) << want.status();
    for (DType type : {DType::kBF16, DType::kF16}) {
      for (DType result : {type, DType::kF32}) {
        const auto got = RunGpuKernel(Cuda(), SpecOf(it, type, result), InputsOf(wide));
        ASSERT_TRUE(got.ok()) << got.status();
        const double unit = result == DType::kF32 ? 0 : result == DType::kF16 ? 0x1.0p-11 : 0x1.0p-8;
        for (size_t o = 0; o < want->size(); ++o) {
          for (size_t i = 0; i < (*want)[o].size(); ++i) {
            // A library that has no such epilogue rounds the product first, which a bias below 1 is added to.
            const double roundings = unit * (2 * std::fabs((*want)[o][i]) + 1);
            ASSERT_NEAR((*got)[o][i], (*want)[o][i], roundings + 1e-5) << o << " " << i;
          }
        }
      }
    }
  }
}

// The first micro-batch's product is the sum; that of another is added to it, in float.
TEST(EinsumCudaTest, AccumulatesOverMicroBatches) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    KernelSpec product{.name = "einsum",
                       .inputs = {TensorSpec::Whole(type, {2, 35, 17}), TensorSpec::Whole(type, {2, 35, 66})},
                       .outputs = {TensorSpec::Whole(DType::kF32, {17, 66})},
                       .attributes = {{"equation", std::string("bsi,bso->io")}}};
    const auto inputs = InputsOf(product);
    const auto term = RunGpuKernel(Cuda(), product, inputs);
    KernelSpec sums = product;
    sums.name = "accumulate_einsum";
    sums.inputs.push_back(product.outputs[0]);
    auto all = inputs;
    all.push_back(RandomValues(17 * 66, 9));
    for (int64_t micro_batch : {0, 1, 3}) {
      const auto got = RunGpuKernel(Cuda(), sums, all, {.micro_batch = micro_batch}, {{2, 0}});
      ASSERT_TRUE(term.ok() && got.ok()) << got.status();
      for (size_t i = 0; i < (*term)[0].size(); ++i) {
        const double before = micro_batch == 0 ? 0 : all[2][i];
        ASSERT_EQ((*got)[0][i], static_cast<float>(before + (*term)[0][i])) << NameOf(type) << " " << i;
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
