#include "ops/einsum/cpu_row_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/kernel_testing.h"

namespace weft::einsum {
namespace {

constexpr float kUntouched = 1234.5f;

std::vector<float> Random(int64_t n, uint64_t seed) {
  const testing::Values values = testing::RandomValues(n, seed);
  return {values.begin(), values.end()};
}

// A batch of rows times matrices, with gaps between them and between what the matrices consist of.
struct Problem {
  int64_t batch, columns, inner;
  bool transposed;

  Contraction contraction() const {
    Contraction it;
    if (batch > 1) it.batch = {{batch, {inner + 3, matrix(), columns + 2}}};
    it.columns = {{columns, {0, transposed ? inner + 5 : 1, 1}}};
    it.inner = {{inner, {1, transposed ? 1 : columns + 4, 0}}};
    return it;
  }
  int64_t matrix() const { return transposed ? columns * (inner + 5) : inner * (columns + 4); }
  float at(int64_t p, int64_t c, const float* of) const {
    return transposed ? of[c * (inner + 5) + p] : of[p * (columns + 4) + c];
  }
};

std::vector<float> Multiply(const Problem& it, int threads, const std::vector<float>& rows,
                            const std::vector<float>& matrices) {
  std::vector<float> result(it.batch * (it.columns + 2), kUntouched);
  auto product = CreateRowProduct(it.contraction(), threads);
  EXPECT_TRUE(product.ok()) << product.status().message();
  if (product.ok()) EXPECT_TRUE((*product)->Run(rows.data(), matrices.data(), result.data(), nullptr).ok());
  return result;
}

void ExpectProduct(const Problem& it) {
  const std::vector<float> rows = Random(it.batch * (it.inner + 3), 1), matrices = Random(it.batch * it.matrix(), 2);
  const std::vector<float> got = Multiply(it, 1, rows, matrices);
  for (int64_t b = 0; b < it.batch; ++b) {
    const float* result = got.data() + b * (it.columns + 2);
    for (int64_t c = 0; c < it.columns; ++c) {
      double want = 0, size = 0;
      for (int64_t p = 0; p < it.inner; ++p) {
        const double term = static_cast<double>(rows[b * (it.inner + 3) + p]) *
                            static_cast<double>(it.at(p, c, matrices.data() + b * it.matrix()));
        want += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(result[c], want, static_cast<double>(it.inner) * 6e-8 * size) << "column " << c << " of " << b;
    }
    EXPECT_EQ(result[it.columns], kUntouched);
  }
  for (int threads : {2, 3, 7}) EXPECT_EQ(Multiply(it, threads, rows, matrices), got) << threads;
}

TEST(RowProductTest, ShapesAndThreads) {
  for (bool transposed : {false, true}) {
    for (int64_t columns : {1, 15, 16, 70, 4099}) {
      for (int64_t inner : {1, 7, 8, 63, 64, 200}) ExpectProduct({1, columns, inner, transposed});
    }
    ExpectProduct({1, 3000, 900, transposed});  // enough for several threads
    ExpectProduct({5, 700, 410, transposed});
    ExpectProduct({3, 9, 70, transposed});
  }
}

// As a product of several rows sums it: so a layout that leaves a rank one row does not change it.
TEST(RowProductTest, ShortSumsAreInOrder) {
  for (bool transposed : {false, true}) {
    const Problem it = {1, 20, 50, transposed};
    const std::vector<float> row = Random(it.inner + 3, 1), matrix = Random(it.matrix(), 2);
    const std::vector<float> got = Multiply(it, 1, row, matrix);
    for (int64_t c = 0; c < it.columns; ++c) {
      float want = 0;
      for (int64_t p = 0; p < it.inner; ++p) want = std::fma(row[p], it.at(p, c, matrix.data()), want);
      EXPECT_EQ(got[c], want);
    }
  }
}

TEST(RowProductTest, AnEmptySumIsZero) {
  for (bool transposed : {false, true}) {
    EXPECT_EQ(Multiply({1, 3, 0, transposed}, 1, {1}, {1})[2], 0);
  }
}

TEST(RowProductTest, RefusesSeveralRowsAndGapsInARow) {
  Contraction rows = Problem{1, 4, 5, false}.contraction();
  rows.rows = {{2, {5, 0, 4}}};
  EXPECT_EQ(CreateRowProduct(rows, 1).status().code(), absl::StatusCode::kUnimplemented);
  Contraction gaps = Problem{1, 4, 5, false}.contraction();
  gaps.inner[0].stride[kLeft] = 2;
  EXPECT_EQ(CreateRowProduct(gaps, 1).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace weft::einsum
