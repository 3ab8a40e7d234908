#include "ops/einsum/cpu_packed_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "ops/abi/float_types.h"
#include "ops/einsum/cpu_microkernel.h"
#include "ops/einsum/product_problem.h"
#include "tests/support/kernel_testing.h"

namespace weft::einsum {
namespace {

struct Problem : ProductProblem {
  DType operands = DType::kF32, result = DType::kF32;
  DType right = operands;

  std::string Text() const {
    return std::to_string(batch) + " x " + std::to_string(rows) + " x " + std::to_string(columns) + " x " +
           std::to_string(inner) + (left_transposed ? ", left transposed" : "") +
           (right_transposed ? ", right transposed" : "") + ", " + NameOf(operands) + ", " + NameOf(right) + " -> " +
           NameOf(result);
  }
};

// Values that the type has, and their bytes.
struct Tensor {
  std::vector<float> values;
  std::vector<char> bytes;
};

template <typename T>
Tensor Stored(std::vector<float> values) {
  Tensor tensor;
  tensor.bytes.resize(values.size() * sizeof(T));
  T* const to = reinterpret_cast<T*>(tensor.bytes.data());
  for (size_t i = 0; i < values.size(); ++i) {
    to[i] = Narrow<T>(values[i]);
    values[i] = Widen(to[i]);
  }
  tensor.values = std::move(values);
  return tensor;
}

Tensor StoredAs(DType type, const std::vector<float>& values) {
  if (type == DType::kF32) return Stored<float>(values);
  return type == DType::kBF16 ? Stored<BFloat16>(values) : Stored<Float16>(values);
}

std::vector<float> ValuesOf(DType type, const std::vector<char>& bytes) {
  std::vector<float> values(bytes.size() / SizeOf(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const char* const at = bytes.data() + i * SizeOf(type);
    values[i] = type == DType::kF32    ? *reinterpret_cast<const float*>(at)
                : type == DType::kBF16 ? Widen(*reinterpret_cast<const BFloat16*>(at))
                                       : Widen(*reinterpret_cast<const Float16*>(at));
  }
  return values;
}

Tensor Random(DType type, int64_t n, uint64_t seed) {
  const testing::Values values = testing::RandomValues(n, seed);
  return StoredAs(type, {values.begin(), values.end()});
}

// What is there before a product is NaN: it is neither read nor, beyond a row, written.
std::vector<float> Multiply(const Problem& problem, const Tensor& left, const Tensor& right, int threads) {
  const DType types[3] = {problem.operands, problem.right, problem.result};
  absl::StatusOr<std::unique_ptr<Product>> product = CreatePackedProduct(problem.contraction(), types, threads);
  EXPECT_TRUE(product.ok()) << product.status().message();
  if (!product.ok()) return {};
  std::vector<char> result =
      StoredAs(problem.result, std::vector<float>(problem.batch * problem.result_size(), std::nanf(""))).bytes;
  const std::unique_ptr<char, void (*)(void*)> workspace(
      static_cast<char*>(std::aligned_alloc(64, ((*product)->workspace_bytes() + 63) / 64 * 64)), &std::free);
  EXPECT_TRUE((*product)->Run(left.bytes.data(), right.bytes.data(), result.data(), workspace.get()).ok());
  return ValuesOf(problem.result, result);
}

std::vector<float> Multiply(const Problem& problem, int threads = 1) {
  return Multiply(problem, Random(problem.operands, problem.batch * problem.left_size(), 1),
                  Random(problem.right, problem.batch * problem.right_size(), 2), threads);
}

// Checks every `step`-th element.
void ExpectProduct(const Problem& problem, int64_t step, int threads) {
  SCOPED_TRACE(problem.Text());
  const Tensor left = Random(problem.operands, problem.batch * problem.left_size(), 1);
  const Tensor right = Random(problem.right, problem.batch * problem.right_size(), 2);
  const std::vector<float> got = Multiply(problem, left, right, threads);
  ASSERT_FALSE(got.empty());
  for (int64_t b = 0; b < problem.batch; ++b) {
    for (int64_t e = 0; e < problem.rows * problem.columns; e += step) {
      const int64_t i = e / problem.columns, j = e % problem.columns;
      const auto [want, magnitude] = ElementOf(problem, left.values, right.values, b, i, j);
      double bound = std::numeric_limits<float>::epsilon() * static_cast<double>(problem.inner + 1) * magnitude;
      if (problem.result == DType::kBF16) bound += std::ldexp(std::fabs(want) + bound, -8);
      if (problem.result == DType::kF16) bound += std::ldexp(std::fabs(want) + bound, -11) + 0x1.0p-25;
      ASSERT_NEAR(got[b * problem.result_size() + i * (problem.columns + 2) + j], want, bound)
          << b << " " << i << " " << j;
    }
    for (int64_t i = 0; i < problem.rows; ++i) {
      ASSERT_TRUE(std::isnan(got[b * problem.result_size() + i * (problem.columns + 2) + problem.columns])) << i;
    }
  }
}

// More and fewer rows than a block, columns than a tile, terms than a part; all of them more than are packed at a time.
TEST(PackedProductTest, EveryLayoutAndType) {
  for (int layout = 0; layout < 4; ++layout) {
    const bool left = layout & 1, right = layout & 2;
    for (DType operands : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (DType result : {DType::kF32, operands}) {
        ExpectProduct({{1, 256, 64, 32, left, right}, operands, result}, 1, 1);
        ExpectProduct({{1, 261, 67, 35, left, right}, operands, result}, 3, 2);
        ExpectProduct({{3, 300, 130, 90, left, right}, operands, result}, 7, 3);
        ExpectProduct({{1, 290, 140, 2500, left, right}, operands, result}, 101, 3);
        ExpectProduct({{1, 2500, 200, 70, left, right}, operands, result}, 997, 2);
        ExpectProduct({{1, 270, 2200, 1030, left, right}, operands, result}, 1009, 4);
      }
    }
  }
}

TEST(PackedProductTest, FewRowsOfNarrowTypes) {
  ExpectProduct({{1, 64, 100, 300, false, false}, DType::kBF16, DType::kBF16}, 1, 2);
  ExpectProduct({{1, 65, 100, 1300, true, true}, DType::kF16, DType::kF32}, 1, 2);
}

TEST(PackedProductTest, OperandsOfTwoTypes) {
  for (bool transposed : {false, true}) {  // turned, then
    ExpectProduct({{1, 256, 300, 200, false, transposed}, DType::kF32, DType::kF32, DType::kBF16}, 7, 2);
    ExpectProduct({{1, 256, 300, 200, true, transposed}, DType::kF16, DType::kF16, DType::kF32}, 7, 2);
  }
}

TEST(PackedProductTest, ThreadsDoNotChangeABit) {
  for (const Problem& problem : {Problem{{1, 446, 540, 2925, true, false}}, Problem{{2, 367, 1178, 513, false, true}},
                                 Problem{{1, 300, 200, 2100, false, false}, DType::kBF16, DType::kBF16},
                                 Problem{{1, 200, 1100, 2100, false, true}, DType::kBF16, DType::kBF16}}) {
    const std::vector<float> one = Multiply(problem, 1);
    for (int threads : {2, 3, 5, 16}) {
      const std::vector<float> got = Multiply(problem, threads);
      ASSERT_EQ(got.size(), one.size());
      for (size_t i = 0; i < one.size(); ++i) {
        ASSERT_TRUE(got[i] == one[i] || (std::isnan(got[i]) && std::isnan(one[i]))) << threads << " at " << i;
      }
    }
  }
}

// Turned, as the right operand lies transposed and is the larger one: down to as few rows as fill most of a tile.
TEST(PackedProductTest, FewRowsOfWhatIsTurned) {
  ExpectProduct({{1, 48, 100, 300, false, true}}, 1, 2);
  ExpectProduct({{2, 64, 700, 1300, true, true}}, 7, 3);
  ExpectProduct({{1, 127, 2300, 70, false, true}}, 13, 1);
}

// A rank that has some rows and columns of a product makes the bits that one rank has of them, whether the product is
// turned or not: of a transposed right operand it is where there are more columns than rows.
TEST(PackedProductTest, APartHasTheBitsOfTheWhole) {
  for (bool transposed : {false, true}) {
    const Problem whole = {{1, 600, 300, 1500, false, transposed}};
    const Tensor left = Random(DType::kF32, whole.left_size(), 1), right = Random(DType::kF32, whole.right_size(), 2);
    const std::vector<float> all = Multiply(whole, left, right, 1);
    for (const auto& [row, rows, column, columns] :
         {std::tuple{0, 300, 0, 300}, std::tuple{300, 300, 0, 300}, std::tuple{0, 600, 37, 101},
          std::tuple{259, 341, 199, 101}, std::tuple{17, 256, 0, 300}}) {
      Contraction part = whole.contraction();
      part.rows[0].extent = rows, part.columns[0].extent = columns;
      const DType types[3] = {DType::kF32, DType::kF32, DType::kF32};
      absl::StatusOr<std::unique_ptr<Product>> product = CreatePackedProduct(part, types, 1);
      ASSERT_TRUE(product.ok()) << product.status().message();
      std::vector<float> got(whole.result_size());
      std::vector<char> workspace((*product)->workspace_bytes());
      ASSERT_TRUE((*product)
                      ->Run(left.values.data() + row * part.rows[0].stride[kLeft],
                            right.values.data() + column * part.columns[0].stride[kRight], got.data(), workspace.data())
                      .ok());
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          ASSERT_EQ(got[i * 302 + j], all[(row + i) * 302 + column + j])
              << transposed << ": " << row << " + " << i << ", " << column << " + " << j;
        }
      }
    }
  }
}

// A sum in parts errs less than one running sum: 50304 terms of one sign.
TEST(PackedProductTest, LongSumsStayAccurate) {
  const std::vector<float> left(256 * 50304, 0.1f), right(50304 * 64, 0.3f);
  std::vector<float> got(256 * 64);
  const Contraction dense = {
      .rows = {{256, {50304, 0, 64}}}, .columns = {{64, {0, 1, 1}}}, .inner = {{50304, {1, 64, 0}}}};
  const DType types[3] = {DType::kF32, DType::kF32, DType::kF32};
  absl::StatusOr<std::unique_ptr<Product>> product = CreatePackedProduct(dense, types, 2);
  ASSERT_TRUE(product.ok()) << product.status().message();
  std::vector<char> workspace((*product)->workspace_bytes());
  ASSERT_TRUE((*product)->Run(left.data(), right.data(), got.data(), workspace.data()).ok());
  EXPECT_NEAR(got[0] / (50304 * (static_cast<double>(0.1f) * 0.3f)), 1, 600 * 6e-8);
}

TEST(PackedProductTest, RefusesWhatIsSmallOrHasGapsBothWays) {
  const DType types[3] = {DType::kF32, DType::kF32, DType::kF32};
  for (const Problem& small :
       {Problem{{1, 255, 64, 32}}, Problem{{1, 256, 63, 32}}, Problem{{1, 256, 64, 31}}, Problem{{1, 0, 64, 32}},
        Problem{{1, 0, 64, 32, false, true}}, Problem{{1, 47, 64, 32, false, true}},
        Problem{{1, 65, 200, 32, false, true}}, Problem{{1, 64, 64, 32, false, true}}}) {
    EXPECT_EQ(CreatePackedProduct(small.contraction(), types, 1).status().code(), absl::StatusCode::kUnimplemented);
  }
  Contraction gaps = Problem{{1, 256, 70, 33}}.contraction();
  gaps.rows[0].stride[kLeft] = 67, gaps.inner[0].stride[kLeft] = 2;
  EXPECT_EQ(CreatePackedProduct(gaps, types, 1).status().code(), absl::StatusCode::kUnimplemented);
  gaps = Problem{{1, 256, 70, 33}}.contraction();
  gaps.inner[0].stride[kRight] = 212, gaps.columns[0].stride[kRight] = 3;
  EXPECT_EQ(CreatePackedProduct(gaps, types, 1).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(PackedProductTest, TheLibraryNamesItself) { EXPECT_EQ(MicrokernelVersion().rfind("libxsmm 1.", 0), 0u); }

}  // namespace
}  // namespace weft::einsum
