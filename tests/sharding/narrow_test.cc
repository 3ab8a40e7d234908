// What kernels make of bfloat16 and float16 is what they make of the same numbers in float32, rounded; on the host and,
// emulated, on a GPU.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "ops/cuda_kernels.h"
#include "tests/emulation/simt/gpu_testing.h"
#include "tests/sharding/kernel_call.h"
#include "tests/sharding/op_case.h"
#include "tests/sharding/parsed_op.h"
#include "tests/support/generated.h"

namespace weft::tests {
namespace {

using testing::Registered;
using testing::Values;

// All kernels of a device: those by hand, and what is generated.
template <void (*kByHand)(KernelRegistry&)>
void RegisterAll(KernelRegistry& registry) {
  kByHand(registry);
  testing::RegisterGeneratedKernels(registry);
}
const KernelRegistry& Cpu() { return Registered<&RegisterAll<&RegisterCpuKernels>>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterAll<&RegisterCudaKernels>>(); }

constexpr RunContext kContext = {.step = 3, .micro_batch = 1, .seed = 20240229};

// The largest relative error of one rounding.
double UnitOf(DType type) { return type == DType::kBF16 ? 0x1p-8 : type == DType::kF16 ? 0x1p-11 : 0; }

struct Call {
  KernelSpec spec;
  std::vector<Values> inputs;
};

// The kernel call of a case, its inputs drawn as for element types of `like`, in which they are exact.
Call CallOf(mlir::MLIRContext& context, const OpCase& one, const KernelSpec* like = nullptr) {
  const ParsedOp parsed = Parse(context, one);
  EXPECT_NE(parsed.op, nullptr) << one.op;
  std::vector<TensorSpec> inputs, outputs;
  for (mlir::Type type : parsed.op->getOperandTypes()) inputs.push_back(WholeSpec(type));
  for (mlir::Type type : parsed.op->getResultTypes()) outputs.push_back(WholeSpec(type));
  Call call = {*SpecOf(parsed.op, inputs, outputs, {}), {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType type = like == nullptr ? inputs[i].dtype : like->inputs[i].dtype;
    call.inputs.push_back(Draw(one.inputs[i].fill, type, inputs[i].elements(), 100 + i));
  }
  return call;
}

double LargestOf(const Values& values) {
  double largest = 0;
  for (double x : values) largest = std::max(largest, std::fabs(x));
  return largest;
}

// `of_each` roundings of each result, `of_largest` of the largest.
void ExpectRounded(const std::vector<Values>& narrow, const std::vector<Values>& wide, const KernelSpec& spec,
                   double of_each, double of_largest) {
  ASSERT_EQ(narrow.size(), wide.size());
  for (size_t o = 0; o < wide.size(); ++o) {
    const double unit = UnitOf(spec.outputs[o].dtype), largest = LargestOf(wide[o]);
    // Sums in float may be taken in another order, and what is very small in float16 is rounded by 2^-25.
    const double slack = 2e-6 * largest + of_largest * UnitOf(spec.inputs[0].dtype) * largest + 0x1p-25;
    for (size_t i = 0; i < wide[o].size(); ++i) {
      ASSERT_NEAR(narrow[o][i], wide[o][i], of_each * unit * std::fabs(wide[o][i]) + slack) << o << " " << i;
    }
  }
}

class NarrowTest : public ::testing::TestWithParam<NarrowPair> {};

TEST_P(NarrowTest, IsFloat32RoundedOnce) {
  const auto context = MakeContext();
  const Call narrow = CallOf(*context, GetParam().narrow), wide = CallOf(*context, GetParam().wide, &narrow.spec);
  ASSERT_EQ(narrow.inputs, wide.inputs);
  const auto rounded = testing::RunKernel(Cpu(), narrow.spec, narrow.inputs, kContext);
  const auto exact = testing::RunKernel(Cpu(), wide.spec, wide.inputs, kContext);
  ASSERT_TRUE(rounded.ok() && exact.ok()) << rounded.status() << exact.status();
  ExpectRounded(*rounded, *exact, narrow.spec, /*of_each=*/1, /*of_largest=*/0);
}

TEST_P(NarrowTest, OnAGpuToo) {
  const auto context = MakeContext();
  const Call narrow = CallOf(*context, GetParam().narrow), wide = CallOf(*context, GetParam().wide, &narrow.spec);
  const auto rounded = testing::RunGpuKernel(Cuda(), narrow.spec, narrow.inputs, kContext);
  const auto exact = testing::RunKernel(Cpu(), wide.spec, wide.inputs, kContext);
  ASSERT_TRUE(rounded.ok() && exact.ok()) << rounded.status() << exact.status();
  // Attention rounds the weights, and their gradients, before it sums by them.
  const bool inside = narrow.spec.name.rfind("attention", 0) == 0;
  ExpectRounded(*rounded, *exact, narrow.spec, /*of_each=*/1, /*of_largest=*/inside ? 2 : 0.01);
}

INSTANTIATE_TEST_SUITE_P(Ops, NarrowTest, ::testing::ValuesIn(NarrowPairs()),
                         [](const ::testing::TestParamInfo<NarrowPair>& info) { return info.param.narrow.name; });

// Every op that is not bound to float32 has a pair.
TEST(NarrowCoverageTest, EveryOpThatMayBeNarrowHasACase) {
  std::set<std::string> with_case = {"cast", "einsum"};  // in ShardingCases(), of themselves
  for (const NarrowPair& pair : NarrowPairs()) with_case.insert(pair.narrow.Mnemonic());
  const auto context = MakeContext();
  for (const OpCase& one : ShardingCases()) {
    const ParsedOp parsed = Parse(*context, one);
    const ir::Precision precision = llvm::cast<ir::WeftOpInterface>(parsed.op).getPrecision();
    const bool wide = llvm::all_of(precision.operands, [](ir::Width width) { return width == ir::Width::Wide; });
    if (!wide) EXPECT_FALSE(with_case.insert(one.Mnemonic()).second) << one.op << " has no narrow case";
  }
}

}  // namespace
}  // namespace weft::tests
