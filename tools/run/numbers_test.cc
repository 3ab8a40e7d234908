#include "tools/run/numbers.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace weft::run {
namespace {

TEST(NumbersTest, FindsTheFirstThatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1, -2.5f, 3, -inf, NAN, 0.5f};
  const Numbers numbers = NumbersOf(DType::kF32, values.data(), 6);
  EXPECT_EQ(numbers.least, -2.5);
  EXPECT_EQ(numbers.most, 3);
  EXPECT_EQ(numbers.non_finite, 2);
  EXPECT_EQ(numbers.first, 3);
  EXPECT_EQ(numbers.value, -inf);
}

TEST(NumbersTest, KnowsNarrowTypes) {
  const std::vector<Float16> halves = {ToFloat16(1), ToFloat16(65504), ToFloat16(70000)};
  EXPECT_EQ(NumbersOf(DType::kF16, halves.data(), 3).first, 2);
  EXPECT_EQ(NumbersOf(DType::kF16, halves.data(), 3).most, 65504);
  const std::vector<BFloat16> brains = {{0x7f80}, {0x3f80}};
  EXPECT_EQ(NumbersOf(DType::kBF16, brains.data(), 2).first, 0);
  const std::vector<int32_t> whole = {std::numeric_limits<int32_t>::max(), -7};
  EXPECT_EQ(NumbersOf(DType::kI32, whole.data(), 2).non_finite, 0);
  EXPECT_EQ(NumbersOf(DType::kI32, whole.data(), 2).least, -7);
}

TEST(NumbersTest, SaysWhereInTheTensor) {
  const TensorSpec tile{DType::kF32, {2, 3}, {4, 6}, {2, 3}};
  EXPECT_EQ(PlaceText(tile, 0), "[2,3]");
  EXPECT_EQ(PlaceText(tile, 5), "[3,5]");
  EXPECT_EQ(PlaceText(TensorSpec::Whole(DType::kF32, {}), 0), "[]");
  const std::vector<float> values = {1, 2, 3, 4, NAN, 6};
  EXPECT_EQ(NumbersText(tile, NumbersOf(DType::kF32, values.data(), 6)),
            "f32[2,3] of [4,6], 1 of its 6 elements not finite, the first at [3,4]: nan");
  EXPECT_EQ(NumbersText(TensorSpec::Whole(DType::kF32, {2}), NumbersOf(DType::kF32, values.data(), 2)),
            "f32[2] from 1 to 2");
}

}  // namespace
}  // namespace weft::run
