#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using weft::testing::RandomValues;
using weft::testing::RunKernel;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterScanKernels(*made);
    return made;
  }();
  return *registry;
}

KernelSpec Spec(DType type, const Dims& dims, int64_t dim, bool exclusive, bool reverse, int threads = 1) {
  KernelSpec spec;
  spec.name = "cumsum";
  spec.threads = threads;
  spec.inputs = spec.outputs = {TensorSpec::Whole(type, dims)};
  spec.attributes.Set("dim", dim);
  if (exclusive) spec.attributes.Set("exclusive", int64_t{1});
  if (reverse) spec.attributes.Set("reverse", int64_t{1});
  return spec;
}

// The sum, and the sum of magnitudes, of what element `index` of the result is made of.
std::pair<double, double> SumOf(const Values& x, const Dims& dims, int64_t dim, int64_t index, bool exclusive,
                                bool reverse) {
  int64_t inner = 1;
  for (size_t d = dims.size() - 1; d > static_cast<size_t>(dim); --d) inner *= dims[d];
  const int64_t place = index / inner % dims[dim], first = index - place * inner;
  double sum = 0, magnitude = 0;
  for (int64_t k = 0; k < dims[dim]; ++k) {
    const bool counts = k == place ? !exclusive : reverse ? k > place : k < place;
    if (!counts) continue;
    sum += x[first + k * inner];
    magnitude += std::fabs(x[first + k * inner]);
  }
  return {sum, magnitude};
}

const std::pair<Dims, int64_t> kShapes[] = {{{1}, 0},         {{257}, 0},        {{3, 40}, 1},      {{40, 3}, 0},
                                            {{7, 5, 130}, 1}, {{3, 257, 64}, 1}, {{2, 300, 65}, 2}, {{5, 1, 9}, 1}};

TEST(ScanTest, SumsEverythingUpToAnElement) {
  for (const auto& [dims, dim] : kShapes) {
    for (bool exclusive : {false, true}) {
      for (bool reverse : {false, true}) {
        for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
          // Of f32, and of the narrow type, which is rounded from it.
          const double unit = type == DType::kF32 ? 0x1p-24 : type == DType::kBF16 ? 0x1.01p-8 : 0x1.01p-11;
          const KernelSpec spec = Spec(type, dims, dim, exclusive, reverse);
          const Values x = RandomValues(spec.inputs[0].elements(), 3, -1, 1, type);
          const auto y = RunKernel(Registry(), spec, {x});
          ASSERT_TRUE(y.ok()) << y.status();
          for (int64_t i = 0; i < spec.inputs[0].elements(); ++i) {
            const auto [sum, magnitude] = SumOf(x, dims, dim, i, exclusive, reverse);
            const double bound = unit * std::fabs(sum) + static_cast<double>(dims[dim]) * 0x1p-52 * magnitude;
            // f16 is a multiple of 2^-24 where it is small.
            ASSERT_NEAR((*y)[0][i], sum, bound + (type == DType::kF16 ? 0x1p-25 : 0)) << NameOf(type) << " " << i;
          }
          const KernelSpec two = Spec(type, dims, dim, exclusive, reverse, 2);
          EXPECT_EQ(*RunKernel(Registry(), two, {x}, {}, {{0, 0}}), *y);
        }
      }
    }
  }
}

TEST(ScanTest, IntegersAreExactAndWrapAround) {
  for (const auto& [dims, dim] : kShapes) {
    for (DType type : {DType::kI32, DType::kI64}) {
      const KernelSpec spec = Spec(type, dims, dim, false, true, 2);
      const Values x = RandomValues(spec.inputs[0].elements(), 3, -99, 99, DType::kI32);
      const auto y = RunKernel(Registry(), spec, {x});
      ASSERT_TRUE(y.ok()) << y.status();
      for (int64_t i = 0; i < spec.inputs[0].elements(); ++i) {
        ASSERT_EQ((*y)[0][i], SumOf(x, dims, dim, i, false, true).first);
      }
    }
  }
  const Values large = {2147483647, 1, 1};
  EXPECT_EQ((*RunKernel(Registry(), Spec(DType::kI32, {3}, 0, false, false), {large}))[0],
            Values({2147483647, -2147483648.0, -2147483647}));
}

TEST(ScanTest, RefusesWhatDoesNotFit) {
  auto message = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  EXPECT_THAT(message(Spec(DType::kF32, {2, 3}, 2, false, false)),
              HasSubstr("attribute `dim`: expected 0 to 1, got 2"));
  EXPECT_THAT(message(Spec(DType::kU8, {2}, 0, false, false)),
              HasSubstr("input 0: expected f32, bf16, f16, i32 or i64, got u8[2]"));
  KernelSpec spec = Spec(DType::kF32, {2}, 0, false, false);
  spec.outputs[0].dtype = DType::kI32;
  EXPECT_THAT(message(spec), HasSubstr("output 0: expected f32, got i32[2]"));
  spec = Spec(DType::kF32, {2}, 0, false, false);
  spec.inputs[0] = spec.outputs[0] = weft::testing::Tile(DType::kF32, {2}, {4}, {2});
  EXPECT_THAT(message(spec), HasSubstr("input 0: expected dim 0 to be whole, got f32[2] of [4] at (2)"));
}

}  // namespace
}  // namespace weft
