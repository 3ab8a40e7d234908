// What is generated of element-wise operators on integers and between types, on the host and on a GPU, beside the
// kernels by hand.
#include "tests/support/generated.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using testing::ExpectTwins;
using testing::RandomValues;
using testing::Registered;
using testing::RunKernel;
using testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Written() { return Registered<&RegisterElementwiseKernels>(); }
const KernelRegistry& Generated() { return Registered<&testing::RegisterGeneratedKernels>(); }

constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8};

KernelSpec Spec(const char* name, const std::vector<TensorSpec>& inputs, const TensorSpec& output) {
  return {.name = name, .inputs = inputs, .outputs = {output}};
}

void ExpectSame(const KernelSpec& spec, const std::vector<Values>& inputs) {
  const auto written = RunKernel(Written(), spec, inputs), generated = RunKernel(Generated(), spec, inputs);
  ASSERT_TRUE(written.ok()) << written.status();
  ASSERT_TRUE(generated.ok()) << generated.status();
  for (size_t i = 0; i < (*written)[0].size(); ++i) {
    const double want = (*written)[0][i], got = (*generated)[0][i];
    ASSERT_TRUE(want == got || (std::isnan(want) && std::isnan(got)))
        << spec.name << " element " << i << ": " << inputs[0][i % inputs[0].size()] << " becomes " << got
        << ", by hand " << want;
  }
  ExpectTwins(Generated(), Generated(), spec, inputs);
}

// Of numbers that `type` has.
Values ToCast(DType type, int64_t n) {
  const bool isByte = type == DType::kU8;
  if (!RowOf(type)->is_float) return RandomValues(n, 5, isByte ? 0 : -3e9, isByte ? 255 : 3e9, DType::kI32);
  Values x = RandomValues(n, 4, -400, 400, type);
  const Values special = {2.5, -2.5, 0.5, -0.5, 0.0, -0.0, 255, 256, 300, -1, std::nan(""), INFINITY, -INFINITY};
  for (size_t i = 0; i < special.size() && i < x.size(); ++i) x[i] = special[i];
  return x;
}

TEST(GeneratedElementwiseTest, CastsBetweenAllTypesAsByHand) {
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      for (int64_t n : {1, 16, 1031}) {
        SCOPED_TRACE(std::string(NameOf(from)) + " to " + std::string(NameOf(to)));
        ExpectSame(Spec("cast", {TensorSpec::Whole(from, {n})}, TensorSpec::Whole(to, {n})), {ToCast(from, n)});
      }
    }
  }
}

TEST(GeneratedElementwiseTest, CastsStopAtTheEndsOfIntegers) {
  const Values x = {2.9, -2.9, 3e9, -3e9, 2147483520, -2147483648.0, 9.3e18, -9.3e18, 255.5, -0.9, 1e30, -1e30};
  for (DType to : {DType::kI32, DType::kI64, DType::kU8}) {
    ExpectSame(Spec("cast", {TensorSpec::Whole(DType::kF32, {12})}, TensorSpec::Whole(to, {12})), {x});
  }
}

TEST(GeneratedElementwiseTest, IntegersWrapAroundAsByHand) {
  struct Shapes {
    Dims a, b, y;
  };
  const Shapes broadcasts[] = {{{}, {}, {}}, {{3, 1031}, {3, 1031}, {3, 1031}}, {{4, 1, 6}, {1, 5, 1}, {4, 5, 6}}};
  for (const char* name : {"add", "sub", "mul", "maximum", "minimum"}) {
    for (DType type : {DType::kI32, DType::kI64}) {
      for (const Shapes& it : broadcasts) {
        const auto of = [&](const Dims& dims) { return TensorSpec::Whole(type, dims); };
        const auto values = [&](const Dims& dims, uint64_t seed) {
          return RandomValues(of(dims).elements(), seed, -2147483647, 2147483647, DType::kI32);
        };
        ExpectSame(Spec(name, {of(it.a), of(it.b)}, of(it.y)), {values(it.a, 1), values(it.b, 2)});
      }
    }
  }
}

TEST(GeneratedElementwiseTest, RepeatsElementsOfEveryType) {
  for (DType type : kTypes) {
    ExpectSame(Spec("broadcast_to", {TensorSpec::Whole(type, {3, 1, 7})}, TensorSpec::Whole(type, {3, 4, 7})),
               {RandomValues(21, 3, 0, 99, DType::kI32)});
  }
}

}  // namespace
}  // namespace weft
