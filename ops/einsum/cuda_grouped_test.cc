#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Cpu() { return Registered<&RegisterEinsumKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterEinsumCudaKernels>(); }

struct Case {
  int64_t outer, rows, k, m;
  Values counts;
  int64_t groups() const { return static_cast<int64_t>(counts.size()) / outer; }
};

// Groups without rows and of several tiles, rows of no group, odd sizes.
const Case kCases[] = {
    {1, 1, 1, 1, {1}},          {1, 150, 17, 70, {3, 0, 130, 1}},           {3, 8, 16, 9, {2, 0, 6, 0, 0, 8, 1, 2, 3}},
    {2, 5, 4, 3, {0, 0, 0, 0}}, {2, 150, 136, 150, {149, 1, 0, 130, 2, 0}}, {1, 40, 64, 128, {8, 24, 8}},
};

KernelSpec Spec(const Case& c, const std::string& name, DType type, DType result, bool transposed) {
  KernelSpec spec{.name = name};
  if (transposed) spec.attributes.Set("transposed", int64_t{1});
  const Dims matrices = transposed ? Dims{c.groups(), c.m, c.k} : Dims{c.groups(), c.k, c.m};
  const Dims rows = {c.outer, c.rows, c.k}, columns = {c.outer, c.rows, c.m};
  const bool outer = name == "grouped_outer";
  spec.inputs = {TensorSpec::Whole(type, rows), TensorSpec::Whole(type, outer ? columns : matrices),
                 TensorSpec::Whole(DType::kI32, {c.outer, c.groups()})};
  spec.outputs = {TensorSpec::Whole(result, outer ? matrices : columns)};
  return spec;
}

std::vector<Values> InputsOf(const KernelSpec& spec, const Case& c) {
  const DType type = spec.inputs[0].dtype;
  return {RandomValues(spec.inputs[0].elements(), 1, -1, 1, type),
          RandomValues(spec.inputs[1].elements(), 2, -1, 1, type), c.counts};
}

TEST(GroupedCudaTest, AgreesWithItsTwin) {
  for (const Case& c : kCases) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (DType result : {DType::kF32, type}) {
        for (const char* name : {"grouped_matmul", "transposed", "grouped_outer"}) {
          const bool transposed = name == std::string("transposed");
          const KernelSpec spec = Spec(c, transposed ? "grouped_matmul" : name, type, result, transposed);
          const double unit = result == DType::kBF16 ? 0x1.0p-8 : result == DType::kF16 ? 0x1.0p-11 : 0x1.0p-24;
          const auto summands = static_cast<double>(spec.name == "grouped_outer" ? c.outer * c.rows : c.k);
          ExpectTwins(Cpu(), Cuda(), spec, InputsOf(spec, c),
                      {.relative = 2 * unit, .absolute = summands * (summands + 1) * 0x1.0p-24});
        }
      }
    }
  }
}

// Matrices 1 and 2 of four.
TEST(GroupedCudaTest, ATileOfTheMatricesYieldsItsRowsAlone) {
  const Case c{2, 9, 5, 7, {3, 1, 4, 1, 0, 6, 2, 0}};
  for (const char* name : {"grouped_matmul", "grouped_outer"}) {
    KernelSpec spec = Spec(c, name, DType::kF32, DType::kF32, false);
    TensorSpec& matrices = spec.name == "grouped_outer" ? spec.outputs[0] : spec.inputs[1];
    matrices.dims[0] = 2;
    matrices.origin[0] = 1;
    ExpectTwins(Cpu(), Cuda(), spec, InputsOf(spec, c), {.relative = 0x1.0p-22, .absolute = 0x1.0p-16});
  }
}

TEST(GroupedCudaTest, AWrongCountRaisesTheAlarm) {
  const Case c{1, 9, 5, 7, {3, 1, 6}}, negative{1, 9, 5, 7, {3, -1, 6}};
  for (const char* name : {"grouped_matmul", "grouped_outer"}) {
    const KernelSpec spec = Spec(c, name, DType::kF32, DType::kF32, false);
    EXPECT_THAT(RunGpuKernel(Cuda(), spec, InputsOf(spec, c)).status().message(),
                HasSubstr("count of group 2 of 0: expected 0 or more, and 9 rows in all groups, got 6"));
    EXPECT_THAT(RunGpuKernel(Cuda(), spec, InputsOf(spec, negative)).status().message(),
                HasSubstr("count of group 1 of 0: expected 0 or more, and 9 rows in all groups, got -1"));
  }
}

}  // namespace
}  // namespace weft
