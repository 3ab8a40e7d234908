#include "ops/einsum/cpu_row_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "ops/abi/float_types.h"
#include "tests/support/kernel_testing.h"

namespace weft::einsum {
namespace {

constexpr float kUntouched = 1232;  // bf16 and f16 have it
constexpr DType kFloats[3] = {DType::kF32, DType::kF32, DType::kF32};

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

// Numbers as elements of a type, and back.
template <typename T>
std::vector<char> As(const std::vector<float>& numbers) {
  std::vector<char> bytes(numbers.size() * sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) reinterpret_cast<T*>(bytes.data())[i] = Narrow<T>(numbers[i]);
  return bytes;
}
std::vector<char> As(DType type, const std::vector<float>& numbers) {
  return type == DType::kF32 ? As<float>(numbers) : type == DType::kBF16 ? As<BFloat16>(numbers) : As<Float16>(numbers);
}
template <typename T>
std::vector<float> From(const std::vector<char>& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = Widen(reinterpret_cast<const T*>(bytes.data())[i]);
  return numbers;
}
std::vector<float> From(DType type, const std::vector<char>& bytes) {
  return type == DType::kF32 ? From<float>(bytes) : type == DType::kBF16 ? From<BFloat16>(bytes) : From<Float16>(bytes);
}

std::vector<float> Multiply(const Problem& it, int threads, const std::vector<float>& rows,
                            const std::vector<float>& matrices, const DType (&types)[3] = kFloats) {
  std::vector<char> result = As(types[kResult], std::vector<float>(it.batch * (it.columns + 2), kUntouched));
  auto product = CreateRowProduct(it.contraction(), types, threads);
  EXPECT_TRUE(product.ok()) << product.status().message();
  if (!product.ok()) return {};
  std::vector<char> workspace((*product)->workspace_bytes());
  const absl::Status status = (*product)->Run(As(types[kLeft], rows).data(), As(types[kRight], matrices).data(),
                                              result.data(), workspace.data());
  EXPECT_TRUE(status.ok());
  return From(types[kResult], result);
}

// What rounding to a type changes of a number at most, as a part of it.
double UnitOf(DType type) { return type == DType::kF32 ? 6e-8 : type == DType::kBF16 ? 0x1p-8 : 0x1p-11; }

void ExpectProduct(const Problem& it, const DType (&types)[3] = kFloats) {
  const auto rounded = [](DType type, const std::vector<float>& numbers) { return From(type, As(type, numbers)); };
  const std::vector<float> rows = rounded(types[kLeft], Random(it.batch * (it.inner + 3), 1)),
                           matrices = rounded(types[kRight], Random(it.batch * it.matrix(), 2));
  const std::vector<float> got = Multiply(it, 1, rows, matrices, types);
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
      const double bound = static_cast<double>(it.inner) * 6e-8 * size + UnitOf(types[kResult]) * std::fabs(want);
      ASSERT_NEAR(result[c], want, bound) << "column " << c << " of " << b;
    }
    EXPECT_EQ(result[it.columns], kUntouched);
  }
  for (int threads : {2, 3, 7}) EXPECT_EQ(Multiply(it, threads, rows, matrices, types), got) << threads;
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

TEST(RowProductTest, NarrowTypes) {
  for (DType left : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (DType right : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (DType result : {DType::kF32, DType::kBF16, DType::kF16}) {
        for (bool transposed : {false, true}) {
          ExpectProduct({1, 4099, 70, transposed}, {left, right, result});
          ExpectProduct({1, 3000, 900, transposed}, {left, right, result});
          ExpectProduct({3, 19, 150, transposed}, {left, right, result});
        }
      }
    }
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

TEST(RowProductTest, RefusesSeveralRowsGapsInARowAndOtherTypes) {
  Contraction rows = Problem{1, 4, 5, false}.contraction();
  rows.rows = {{2, {5, 0, 4}}};
  EXPECT_EQ(CreateRowProduct(rows, kFloats, 1).status().code(), absl::StatusCode::kUnimplemented);
  Contraction gaps = Problem{1, 4, 5, false}.contraction();
  gaps.inner[0].stride[kLeft] = 2;
  EXPECT_EQ(CreateRowProduct(gaps, kFloats, 1).status().code(), absl::StatusCode::kUnimplemented);
  const Contraction one = Problem{1, 4, 5, false}.contraction();
  EXPECT_EQ(CreateRowProduct(one, {DType::kF32, DType::kF64, DType::kF32}, 1).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace weft::einsum
