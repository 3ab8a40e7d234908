#include "ops/einsum/cpu_float_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ops/einsum/product_problem.h"
#include "tests/support/kernel_testing.h"

namespace weft::einsum {
namespace {

constexpr float kUntouched = 1234.5f;

// Every product of this file is made by both.
std::vector<Sgemm> Engines() {
  std::vector<Sgemm> engines = {&PlainSgemm};
  if (OneDnnSgemm() != nullptr) engines.push_back(OneDnnSgemm());
  return engines;
}

std::vector<float> Random(int64_t n, uint64_t seed) {
  const testing::Values values = testing::RandomValues(n, seed);
  return {values.begin(), values.end()};
}

std::vector<float> LeftOf(const ProductProblem& it) {
  return Random(std::max<int64_t>(it.batch * it.left_size(), 1), 1);
}
std::vector<float> RightOf(const ProductProblem& it) {
  return Random(std::max<int64_t>(it.batch * it.right_size(), 1), 2);
}

std::vector<float> Multiply(const ProductProblem& problem, int threads, Sgemm sgemm) {
  absl::StatusOr<std::unique_ptr<Product>> product = CreateFloatProduct(problem.contraction(), threads, sgemm);
  EXPECT_TRUE(product.ok()) << product.status().message();
  std::vector<float> result(problem.batch * problem.result_size(), kUntouched);
  if (!product.ok()) return result;
  EXPECT_EQ((*product)->workspace_bytes(), 0u);
  EXPECT_TRUE((*product)->Run(LeftOf(problem).data(), RightOf(problem).data(), result.data(), nullptr).ok());
  return result;
}

// Checks every `step`-th element.
void ExpectProduct(const ProductProblem& problem, int64_t step, int threads = 1) {
  SCOPED_TRACE(::testing::Message() << problem.batch << " x " << problem.rows << " x " << problem.columns << " x "
                                    << problem.inner << (problem.left_transposed ? ", left transposed" : "")
                                    << (problem.right_transposed ? ", right transposed" : ""));
  const std::vector<float> left = LeftOf(problem), right = RightOf(problem);
  for (Sgemm sgemm : Engines()) {
    const std::vector<float> got = Multiply(problem, threads, sgemm);
    for (int64_t b = 0; b < problem.batch; ++b) {
      for (int64_t e = 0; e < problem.rows * problem.columns; e += step) {
        const int64_t i = e / problem.columns, j = e % problem.columns;
        const auto [want, magnitude] = ElementOf(problem, left, right, b, i, j);
        const double error = std::numeric_limits<float>::epsilon() * static_cast<double>(problem.inner + 1);
        ASSERT_NEAR(got[b * problem.result_size() + i * (problem.columns + 2) + j], want, error * magnitude)
            << b << " " << i << " " << j;
      }
      for (int64_t i = 0; i < problem.rows; ++i) {
        ASSERT_EQ(got[b * problem.result_size() + i * (problem.columns + 2) + problem.columns], kUntouched)
            << "beyond row " << i;
      }
    }
  }
}

TEST(FloatProductTest, TheLibraryIsThere) { EXPECT_NE(OneDnnSgemm(), nullptr) << "tools/setup installs it"; }

TEST(FloatProductTest, SmallShapesOfEveryLayout) {
  for (int64_t rows : {1, 5, 16, 49}) {
    for (int64_t columns : {1, 15, 16, 65, 530}) {
      for (int64_t inner : {1, 8, 17, 40}) {
        for (int layout = 0; layout < 4; ++layout) {
          ExpectProduct({1, rows, columns, inner, (layout & 1) != 0, (layout & 2) != 0}, 1);
        }
      }
    }
  }
}

// Cut into pieces that are not all of one size, by rows, by columns and by both; batches.
TEST(FloatProductTest, Pieces) {
  for (int layout = 0; layout < 4; ++layout) {
    const bool left = (layout & 1) != 0, right = (layout & 2) != 0;
    ExpectProduct({1, 333, 700, 401, left, right}, 997, 3);
    ExpectProduct({1, 4500, 33, 390, left, right}, 1009, 2);
    ExpectProduct({1, 40, 5001, 300, left, right}, 1013, 4);
    ExpectProduct({5, 130, 290, 310, left, right}, 1019, 3);
    ExpectProduct({33, 7, 20, 9, left, right}, 1, 2);
    ExpectProduct({1, 1, 3001, 700, left, right}, 7, 3);
    ExpectProduct({4, 1, 900, 310, left, right}, 3, 2);
  }
}

// So that threads share the reading of the matrix.
TEST(FloatProductTest, FewRowsAreCutByColumns) {
  for (int64_t rows : {1, 8, 31}) {
    const Cut cut = CutFor(rows, 3072, 768, 1);
    EXPECT_GE(cut.rows, rows);
    EXPECT_LE(cut.columns, 3072 / 4);
    EXPECT_EQ(CutFor(rows, 64, 64, 1).columns, 64);
  }
}

TEST(FloatProductTest, AnEmptySumIsZero) {
  for (Sgemm sgemm : Engines()) {
    for (float value : {Multiply({1, 3, 4, 0}, 1, sgemm)[0], Multiply({1, 1, 4, 0}, 1, sgemm)[3],
                        Multiply({1, 300, 400, 0}, 2, sgemm)[17 * 402]}) {
      EXPECT_EQ(value, 0);
    }
  }
  for (Sgemm sgemm : Engines()) EXPECT_TRUE(Multiply({1, 0, 4, 2}, 2, sgemm).empty());
}

TEST(FloatProductTest, RefusesWhatHasGapsBothWays) {
  Contraction gaps = ProductProblem{1, 20, 70, 30}.contraction();
  gaps.rows[0].stride[kLeft] = 61, gaps.inner[0].stride[kLeft] = 2;
  EXPECT_EQ(CreateFloatProduct(gaps, 1, &PlainSgemm).status().code(), absl::StatusCode::kUnimplemented);
  gaps = ProductProblem{1, 20, 70, 30}.contraction();
  gaps.inner[0].stride[kRight] = 212, gaps.columns[0].stride[kRight] = 3;
  EXPECT_EQ(CreateFloatProduct(gaps, 1, &PlainSgemm).status().code(), absl::StatusCode::kUnimplemented);
}

// What was there before does not matter, not even NaN.
TEST(FloatProductTest, OverwritesTheResult) {
  for (int64_t rows : {70, 1}) {
    const ProductProblem problem = {1, rows, 300, 90};
    for (Sgemm sgemm : Engines()) {
      absl::StatusOr<std::unique_ptr<Product>> product = CreateFloatProduct(problem.contraction(), 1, sgemm);
      ASSERT_TRUE(product.ok());
      std::vector<float> result(problem.result_size(), std::numeric_limits<float>::quiet_NaN());
      ASSERT_TRUE((*product)->Run(LeftOf(problem).data(), RightOf(problem).data(), result.data(), nullptr).ok());
      EXPECT_FALSE(std::isnan(result[0]));
      EXPECT_FALSE(std::isnan(result[(rows - 1) * 302 + 299]));
      EXPECT_TRUE(std::isnan(result[300]));  // beyond the row
    }
  }
}

TEST(FloatProductTest, ThreadsDoNotChangeABit) {
  for (const ProductProblem& problem :
       {ProductProblem{1, 446, 540, 925, true, false}, ProductProblem{1, 267, 1178, 513, false, true},
        ProductProblem{1, 256, 1152, 384}, ProductProblem{1, 1, 3072, 768},
        ProductProblem{3, 335, 225, 737, false, true}}) {
    for (Sgemm sgemm : Engines()) {
      const std::vector<float> one = Multiply(problem, 1, sgemm);
      for (int threads : {2, 3, 5, 16}) EXPECT_EQ(Multiply(problem, threads, sgemm), one) << threads;
    }
  }
}

// Nor the pieces, of which some processors' kernels sum in other orders: here an element says how large its piece was.
TEST(FloatProductTest, ThreadsDoNotChangeThePieces) {
  const Sgemm tell = [](int rows, int columns, int, const FloatMatrix&, const FloatMatrix&, float* result, int stride) {
    for (int i = 0; i < rows; ++i) std::fill_n(result + i * stride, columns, static_cast<float>(rows * 1000 + columns));
    return absl::OkStatus();
  };
  for (const ProductProblem& problem :
       {ProductProblem{1, 446, 540, 925}, ProductProblem{1, 256, 1152, 384}, ProductProblem{3, 670, 450, 737}}) {
    const std::vector<float> one = Multiply(problem, 1, tell);
    EXPECT_NE(one[0], static_cast<float>(problem.rows * 1000 + problem.columns)) << "expected it to be cut";
    for (int threads : {2, 3, 5, 16}) EXPECT_EQ(Multiply(problem, threads, tell), one) << threads;
  }
}

TEST(FloatProductTest, AFailedPieceFailsTheProduct) {
  const Sgemm last_fails = [](int rows, int, int, const FloatMatrix&, const FloatMatrix&, float*, int) {
    return rows % 16 == 0 ? absl::OkStatus() : absl::ResourceExhaustedError("no memory");
  };
  const ProductProblem problem = {1, 446, 540, 925};
  const absl::StatusOr<std::unique_ptr<Product>> product = CreateFloatProduct(problem.contraction(), 2, last_fails);
  ASSERT_TRUE(product.ok());
  std::vector<float> result(problem.result_size());
  const absl::Status status = (*product)->Run(LeftOf(problem).data(), RightOf(problem).data(), result.data(), nullptr);
  EXPECT_EQ(status, absl::ResourceExhaustedError("no memory"));
}

TEST(FloatProductTest, WhatWasThereIsNotRead) {
  for (int64_t rows : {1, 2, 40}) {
    for (Sgemm sgemm : Engines()) {
      const std::vector<float> left(rows * 70, 1), right(70 * 90, 2);
      std::vector<float> result(rows * 90, std::numeric_limits<float>::quiet_NaN());
      const auto of = static_cast<int>(rows);
      ASSERT_TRUE(sgemm(of, 90, 70, {left.data(), 70, false}, {right.data(), 90, false}, result.data(), 90).ok());
      EXPECT_EQ(result, std::vector<float>(rows * 90, 140));
    }
  }
}

// Any number of threads may call: as ranks that are threads do.
TEST(FloatProductTest, ManyAtATime) {
  const ProductProblem problem = {24, 90, 130, 200};
  for (Sgemm sgemm : Engines()) EXPECT_EQ(Multiply(problem, 8, sgemm), Multiply(problem, 1, sgemm));
}

// A sum in blocks errs less than one running sum: 50304 terms of one sign.
TEST(FloatProductTest, LongSumsStayAccurate) {
  if (OneDnnSgemm() == nullptr) GTEST_SKIP() << "no libdnnl.so.2";
  const std::vector<float> left(8 * 50304, 0.1f), right(50304 * 64, 0.3f);
  std::vector<float> got(8 * 64);
  ASSERT_TRUE(OneDnnSgemm()(8, 64, 50304, {left.data(), 50304, false}, {right.data(), 64, false}, got.data(), 64).ok());
  EXPECT_NEAR(got[0] / (50304 * (static_cast<double>(0.1f) * 0.3f)), 1, 600 * 6e-8);
}

}  // namespace
}  // namespace weft::einsum
