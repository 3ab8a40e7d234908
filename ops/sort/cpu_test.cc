#include <algorithm>
#include <cmath>
#include <numeric>

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
    RegisterSortKernels(*made);
    return made;
  }();
  return *registry;
}

// `k` 0: sort.
KernelSpec Spec(DType type, const Dims& dims, int64_t dim, int64_t k, bool descending, int threads = 1) {
  KernelSpec spec;
  spec.name = k > 0 ? "top_k" : "sort";
  spec.threads = threads;
  spec.attributes.Set("dim", dim);
  if (k > 0) spec.attributes.Set("k", k);
  if (k == 0 && descending) spec.attributes.Set("descending", int64_t{1});
  Dims kept = dims;
  if (k > 0) kept[dim] = k;
  spec.inputs = {TensorSpec::Whole(type, dims)};
  spec.outputs = {TensorSpec::Whole(type, kept), TensorSpec::Whole(DType::kI32, kept)};
  return spec;
}

// The places of a line's elements in order, of equal ones the first.
std::vector<int64_t> Order(const Values& line, bool descending) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return line[a] == line[b] ? a < b : (line[a] < line[b]) != descending; });
  return order;
}

void ExpectSorted(const KernelSpec& spec, const Dims& dims, int64_t dim, int64_t kept, bool descending,
                  const Values& x) {
  const auto y = RunKernel(Registry(), spec, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(dim) + 1; d < dims.size(); ++d) inner *= dims[d];
  const int64_t extent = dims[dim], blocks = static_cast<int64_t>(x.size()) / extent / inner;
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t column = 0; column < inner; ++column) {
      Values line;
      for (int64_t i = 0; i < extent; ++i) line.push_back(x[(block * extent + i) * inner + column]);
      const std::vector<int64_t> order = Order(line, descending);
      for (int64_t i = 0; i < kept; ++i) {
        const int64_t at = (block * kept + i) * inner + column;
        ASSERT_EQ((*y)[1][at], order[i]) << at;
        ASSERT_EQ((*y)[0][at], line[order[i]]) << at;
      }
    }
  }
}

const std::pair<Dims, int64_t> kShapes[] = {{{1}, 0}, {{300}, 0}, {{40, 7}, 0}, {{40, 7}, 1}, {{30, 9, 20}, 1}};

// Few different values, so that ties abound.
TEST(SortTest, SortsLinesAndKeepsTheOrderOfEqualElements) {
  for (const auto& [dims, dim] : kShapes) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32}) {
      for (bool descending : {false, true}) {
        for (int threads : {1, 2}) {
          const KernelSpec spec = Spec(type, dims, dim, 0, descending, threads);
          const int64_t n = spec.inputs[0].elements();
          ExpectSorted(spec, dims, dim, dims[dim], descending, RandomValues(n, 3, -4, 4, DType::kI32));
          if (type == DType::kF32) ExpectSorted(spec, dims, dim, dims[dim], descending, RandomValues(n, 4, -1, 1));
        }
      }
    }
  }
}

TEST(SortTest, TopKIsTheBeginOfTheDescendingOrder) {
  for (const auto& [dims, dim] : kShapes) {
    for (int64_t k : {int64_t{1}, (dims[dim] + 1) / 2, dims[dim]}) {
      const KernelSpec spec = Spec(DType::kF32, dims, dim, k, true, 2);
      ExpectSorted(spec, dims, dim, k, true, RandomValues(spec.inputs[0].elements(), 5, -4, 4, DType::kI32));
    }
  }
}

TEST(SortTest, ZerosAreEqualAndNaNIsAboveAll) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  const Values x = {0.0, nan, -0.0, inf, -inf, nan, -1};
  for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
    EXPECT_EQ((*RunKernel(Registry(), Spec(type, {7}, 0, 0, false), {x}))[1], Values({4, 6, 0, 2, 3, 1, 5}));
    EXPECT_EQ((*RunKernel(Registry(), Spec(type, {7}, 0, 0, true), {x}))[1], Values({1, 5, 3, 0, 2, 6, 4}));
    const Values values = (*RunKernel(Registry(), Spec(type, {7}, 0, 5, true), {x}))[0];
    EXPECT_TRUE(std::signbit(values[4]));
    EXPECT_FALSE(std::signbit(values[3]));
  }
}

TEST(SortTest, RefusesWhatDoesNotFit) {
  auto message = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  EXPECT_THAT(message(Spec(DType::kI64, {4}, 0, 0, false)),
              HasSubstr("input 0: expected f32, bf16, f16 or i32, got i64[4]"));
  EXPECT_THAT(message(Spec(DType::kF32, {4}, 0, 5, true)), HasSubstr("attribute `k`: expected 1 to 4, got 5"));
  KernelSpec spec = Spec(DType::kF32, {4}, 0, 2, true);
  spec.outputs[1].dtype = DType::kI64;
  EXPECT_THAT(message(spec), HasSubstr("output 1: expected i32[2], got i64[2]"));
  spec = Spec(DType::kF32, {4}, 0, 0, false);
  spec.inputs[0] = weft::testing::Tile(DType::kF32, {4}, {8}, {4});
  EXPECT_THAT(message(spec), HasSubstr("input 0: expected dim 0 to be whole, got f32[4] of [8] at (4)"));
}

}  // namespace
}  // namespace weft
