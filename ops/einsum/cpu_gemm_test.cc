#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ops/abi/cpu_level.h"
#include "ops/abi/kernel_testing.h"
#include "ops/abi/scratch.h"
#include "ops/einsum/gemm.h"

namespace weft::einsum {
namespace {

std::vector<const GemmFunctions*> Levels() {
  std::vector<const GemmFunctions*> levels = {&v3::Functions()};
  if (CpuHasLevel4()) levels.push_back(&v4::Functions());
  return levels;
}

std::vector<float> Random(int64_t n, uint64_t seed) {
  const testing::Values values = testing::RandomValues(n, seed);
  return {values.begin(), values.end()};
}

// Operands with rows or columns next to each other, rows of the result apart.
GemmShape ShapeOf(int64_t rows, int64_t columns, int64_t inner, bool transposed_left, bool transposed_right) {
  GemmShape shape = {rows, columns, inner, inner + 3, 1, columns + 1, 1, columns + 2};
  if (transposed_left) shape.left_row = 1, shape.left_inner = rows + 5;
  if (transposed_right) shape.right_inner = 1, shape.right_column = inner + 2;
  return shape;
}

int64_t Extent(int64_t a, int64_t step_a, int64_t b, int64_t step_b) { return (a - 1) * step_a + (b - 1) * step_b + 1; }

constexpr float kUntouched = 1234.5f;

std::vector<float> Multiply(const GemmFunctions& functions, const GemmShape& shape, const std::vector<float>& left,
                            const std::vector<float>& right, const std::vector<GemmPart>& parts) {
  std::vector<float> result(shape.rows * shape.result_row, kUntouched);
  const int64_t floats = functions.scratch(shape);
  const Scratch<float> scratch(floats + 16);
  std::fill(scratch.data(), scratch.data() + floats, std::numeric_limits<float>::quiet_NaN());
  std::fill(scratch.data() + floats, scratch.data() + floats + 16, kUntouched);
  for (const GemmPart& part : parts)
    functions.run(shape, part, left.data(), right.data(), result.data(), scratch.data());
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(scratch.data()[floats + i], kUntouched) << "beyond the scratch";
  return result;
}

void ExpectProduct(const GemmShape& shape, int64_t step) {
  const std::vector<float> left = Random(Extent(shape.rows, shape.left_row, shape.inner, shape.left_inner), 1);
  const std::vector<float> right = Random(Extent(shape.inner, shape.right_inner, shape.columns, shape.right_column), 2);
  for (const GemmFunctions* functions : Levels()) {
    SCOPED_TRACE(std::string(functions->level) + " rows " + std::to_string(shape.rows) + " columns " +
                 std::to_string(shape.columns) + " inner " + std::to_string(shape.inner) + " left row " +
                 std::to_string(shape.left_row) + " right column " + std::to_string(shape.right_column));
    const std::vector<float> got = Multiply(*functions, shape, left, right, {{0, shape.rows, 0, shape.columns}});
    for (int64_t at = 0; at < shape.rows * shape.columns; at += step) {
      const int64_t i = at / shape.columns, j = at % shape.columns;
      double want = 0, magnitude = 0;
      for (int64_t p = 0; p < shape.inner; ++p) {
        const double term = static_cast<double>(left[i * shape.left_row + p * shape.left_inner]) *
                            right[p * shape.right_inner + j * shape.right_column];
        want += term;
        magnitude += std::fabs(term);
      }
      const double error = std::numeric_limits<float>::epsilon() * static_cast<double>(shape.inner + 1);
      ASSERT_NEAR(got[i * shape.result_row + j], want, error * magnitude) << i << " " << j;
    }
    for (int64_t i = 0; i < shape.rows; ++i) {
      ASSERT_EQ(got[i * shape.result_row + shape.columns], kUntouched) << "beyond row " << i;
    }
  }
}

TEST(GemmTest, SmallShapesOfEveryLayout) {
  for (int64_t rows : {1, 5, 6, 7, 49}) {
    for (int64_t columns : {1, 15, 16, 63, 64, 65, 130}) {
      for (int64_t inner : {1, 8, 17, 40}) {
        for (int layout = 0; layout < 4; ++layout) {
          ExpectProduct(ShapeOf(rows, columns, inner, (layout & 1) != 0, (layout & 2) != 0), 1);
        }
      }
    }
  }
}

// More than one block of inner, columns and rows; a left operand too large to be packed once.
TEST(GemmTest, ShapesOfSeveralBlocks) {
  for (int layout = 0; layout < 4; ++layout) {
    const bool left = (layout & 1) != 0, right = (layout & 2) != 0;
    ExpectProduct(ShapeOf(50, 700, 801, left, right), 37);
    ExpectProduct(ShapeOf(1300, 66, 390, left, right), 41);
    ExpectProduct(ShapeOf(1200, 300, 1501, left, right), 1009);
  }
}

TEST(GemmTest, NeitherDimensionNextToEachOther) {
  GemmShape shape = {20, 70, 30, 0, 0, 0, 0, 71};
  shape.left_inner = 2, shape.left_row = 61;
  shape.right_column = 3, shape.right_inner = 212;
  ExpectProduct(shape, 1);
}

TEST(GemmTest, PartsDoNotChangeTheSums) {
  const GemmShape shape = ShapeOf(40, 200, 900, true, false);
  const std::vector<float> left = Random(Extent(shape.rows, shape.left_row, shape.inner, shape.left_inner), 1);
  const std::vector<float> right = Random(Extent(shape.inner, shape.right_inner, shape.columns, shape.right_column), 2);
  for (const GemmFunctions* functions : Levels()) {
    const std::vector<float> whole = Multiply(*functions, shape, left, right, {{0, 40, 0, 200}});
    const std::vector<GemmPart> parts = {{0, 12, 0, 200}, {12, 40, 64, 200}, {12, 40, 0, 64}};
    EXPECT_EQ(Multiply(*functions, shape, left, right, parts), whole);
  }
}

// A sum in blocks errs less than one running sum: 50304 terms of one sign.
TEST(GemmTest, LongSumsStayAccurate) {
  const GemmShape shape = {6, 64, 50304, 50304, 1, 64, 1, 64};
  const std::vector<float> left(6 * 50304, 0.1f), right(50304 * 64, 0.3f);
  for (const GemmFunctions* functions : Levels()) {
    const std::vector<float> got = Multiply(*functions, shape, left, right, {{0, 6, 0, 64}});
    const double want = 50304 * (static_cast<double>(0.1f) * 0.3f);
    EXPECT_NEAR(got[0] / want, 1, 600 * 6e-8);
  }
}

}  // namespace
}  // namespace weft::einsum
