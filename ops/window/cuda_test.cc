#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "ops/window/cases.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft::window {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::Values;

const KernelRegistry& Cpu() { return Registered<&RegisterWindowKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterWindowCudaKernels>(); }

class WindowCudaTest : public ::testing::TestWithParam<Case> {
 protected:
  Values Draw(const Dims& dims, uint64_t seed, DType type = DType::kF32) const {
    return RandomValues(Case::elements(dims), seed, -2, 2, type);
  }
  const Case& c_ = GetParam();
};

TEST_P(WindowCudaTest, MovesTheSameElements) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kI32, DType::kI64, DType::kU8}) {
    Values x(Case::elements(c_.image));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 125 + 1);
    ExpectTwins(Cpu(), Cuda(), c_.Unfold(type), {x});
  }
}

// Both add in the order of the taps, in float.
TEST_P(WindowCudaTest, SumsInTheSameOrder) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    const Values y = Draw(c_.unfolded(), 1, type);
    ExpectTwins(Cpu(), Cuda(), c_.Fold(type), {y});
    Values x = Draw(c_.image, 2, type), pooled(Case::elements(c_.pooled()), -std::numeric_limits<double>::infinity());
    for (double& value : x) value = std::round(value);
    c_.ForEach([&](const Element& e) {
      if (e.inside) pooled[e.pooled] = std::max(pooled[e.pooled], x[e.image]);
    });
    ExpectTwins(Cpu(), Cuda(), c_.MaxPool(type), {x});
    ExpectTwins(Cpu(), Cuda(), c_.MaxPoolGrad(type), {Draw(c_.pooled(), 3, type), x, pooled});
  }
}

// Products may be fused with sums; the largest sum is of as many products up to 4 as a window has elements, or all
// places.
TEST_P(WindowCudaTest, WeighsAlike) {
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    const double unit = type == DType::kF32 ? 0 : type == DType::kBF16 ? 0x1p-8 : 0x1p-11;
    const auto taps = static_cast<double>(c_.taps());
    const Values x = Draw(c_.image, 1, type), dy = Draw(c_.pooled(), 2, type);
    const Values w = RandomValues(c_.taps() * c_.inner(), 3, -2, 2, type);
    const testing::Bound window{.relative = unit, .absolute = 4 * taps * taps * 0x1p-24};
    ExpectTwins(Cpu(), Cuda(), c_.Depthwise(type), {x, w}, window);
    ExpectTwins(Cpu(), Cuda(), c_.DepthwiseGradInput(type), {dy, w}, window);
    const double places = static_cast<double>(dy.size()) / static_cast<double>(c_.inner());
    ExpectTwins(Cpu(), Cuda(), c_.DepthwiseGradWeight(type), {x, dy}, {.absolute = 4 * places * 32 * 0x1p-24});
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, WindowCudaTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

// Several parts, of more places than a block's threads have at once.
TEST(DepthwiseCudaTest, SumsManyPlacesInParts) {
  const Case many = {.name = "many", .image = {40, 40, 33}, .dim = 1, .size = {3}, .padding = {1}};
  const Values x = RandomValues(40 * 40 * 33, 1), dy = RandomValues(40 * 40 * 33, 2);
  ExpectTwins(Cpu(), Cuda(), many.DepthwiseGradWeight(DType::kF32), {x, dy}, {.absolute = 1600 * 64 * 0x1p-24});
}

TEST(WindowCudaErrorsTest, AreThoseOfTheTwin) {
  const Case one = {.name = "one", .image = {2, 5, 3}, .dim = 1, .size = {2}};
  KernelSpec spec = one.Fold(DType::kF32);
  spec.outputs[0].dims[1] = 6;
  const auto wrong = testing::RunGpuKernel(Cuda(), spec, {RandomValues(2 * 4 * 2 * 3, 1)});
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::window
