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
using weft::testing::SliceOf;
using weft::testing::Tile;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterEinsumKernels(*made);
    return made;
  }();
  return *registry;
}

struct Case {
  int64_t outer, rows, k, m;
  std::vector<int64_t> counts;  // of each outer element in turn

  int64_t groups() const { return static_cast<int64_t>(counts.size()) / outer; }
};

// Groups without rows, rows of no group, one group, sizes around a vector's and a product that is cut.
const Case kCases[] = {
    {1, 1, 1, 1, {1}},
    {1, 10, 5, 7, {3, 0, 5, 1}},
    {3, 8, 16, 9, {2, 0, 6, 0, 0, 8, 1, 2, 3}},
    {2, 40, 33, 17, {0, 0, 40, 0, 0, 0}},
    {2, 5, 4, 3, {0, 0, 0, 0}},
    {2, 300, 256, 512, {100, 200, 300, 0}},
};

Values CountsOf(const Case& c) { return Values(c.counts.begin(), c.counts.end()); }

KernelSpec MatmulSpec(const Case& c, DType type, DType result, bool transposed, int threads = 1) {
  KernelSpec spec{.name = "grouped_matmul"};
  spec.threads = threads;
  if (transposed) spec.attributes.Set("transposed", int64_t{1});
  const Dims matrices = transposed ? Dims{c.groups(), c.m, c.k} : Dims{c.groups(), c.k, c.m};
  spec.inputs = {TensorSpec::Whole(type, {c.outer, c.rows, c.k}), TensorSpec::Whole(type, matrices),
                 TensorSpec::Whole(DType::kI32, {c.outer, c.groups()})};
  spec.outputs = {TensorSpec::Whole(result, {c.outer, c.rows, c.m})};
  return spec;
}

KernelSpec OuterSpec(const Case& c, DType type, DType result, int threads = 1) {
  KernelSpec spec{.name = "grouped_outer"};
  spec.threads = threads;
  spec.inputs = {TensorSpec::Whole(type, {c.outer, c.rows, c.k}), TensorSpec::Whole(type, {c.outer, c.rows, c.m}),
                 TensorSpec::Whole(DType::kI32, {c.outer, c.groups()})};
  spec.outputs = {TensorSpec::Whole(result, {c.groups(), c.k, c.m})};
  return spec;
}

// The group of each row; -1: none.
std::vector<int64_t> GroupsOf(const Case& c) {
  std::vector<int64_t> groups;
  for (int64_t outer = 0; outer < c.outer; ++outer) {
    for (int64_t g = 0; g < c.groups(); ++g) groups.insert(groups.end(), c.counts[outer * c.groups() + g], g);
    groups.resize((outer + 1) * c.rows, -1);
  }
  return groups;
}

Values Multiplied(const Case& c, bool transposed, const Values& x, const Values& w) {
  const std::vector<int64_t> groups = GroupsOf(c);
  Values y(c.outer * c.rows * c.m);
  for (size_t row = 0; row < groups.size(); ++row) {
    if (groups[row] < 0) continue;
    for (int64_t j = 0; j < c.m; ++j) {
      for (int64_t i = 0; i < c.k; ++i) {
        y[row * c.m + j] += x[row * c.k + i] * w[groups[row] * c.k * c.m + (transposed ? j * c.k + i : i * c.m + j)];
      }
    }
  }
  return y;
}

Values Outer(const Case& c, const Values& a, const Values& b) {
  const std::vector<int64_t> groups = GroupsOf(c);
  Values y(c.groups() * c.k * c.m);
  for (size_t row = 0; row < groups.size(); ++row) {
    if (groups[row] < 0) continue;
    for (int64_t i = 0; i < c.k; ++i) {
      for (int64_t j = 0; j < c.m; ++j) {
        y[(groups[row] * c.k + i) * c.m + j] += a[row * c.k + i] * b[row * c.m + j];
      }
    }
  }
  return y;
}

double UnitOf(DType type) { return type == DType::kBF16 ? 0x1.0p-8 : type == DType::kF16 ? 0x1.0p-11 : 0x1.0p-24; }

// Sums of `terms` products of numbers below 1, in float, rounded once more.
void ExpectNear(const Values& got, const Values& want, int64_t terms, DType result) {
  ASSERT_EQ(got.size(), want.size());
  const auto n = static_cast<double>(terms);
  for (size_t i = 0; i < got.size(); ++i) {
    const double bound = n * (n + 1) * 0x1.0p-24 + UnitOf(result) * std::abs(want[i]);
    ASSERT_LE(std::abs(got[i] - want[i]), bound) << "element " << i << " is " << got[i] << ", not " << want[i];
  }
}

const std::pair<DType, DType> kTypes[] = {{DType::kF32, DType::kF32},
                                          {DType::kBF16, DType::kBF16},
                                          {DType::kBF16, DType::kF32},
                                          {DType::kF16, DType::kF16},
                                          {DType::kF16, DType::kF32}};

TEST(GroupedTest, MultipliesAsPlainLoopsDo) {
  for (const Case& c : kCases) {
    for (const auto& [type, result] : kTypes) {
      for (bool transposed : {false, true}) {
        const Values x = RandomValues(c.outer * c.rows * c.k, 1, -1, 1, type);
        const Values w = RandomValues(c.groups() * c.k * c.m, 2, -1, 1, type);
        const auto y = RunKernel(Registry(), MatmulSpec(c, type, result, transposed), {x, w, CountsOf(c)});
        ASSERT_TRUE(y.ok()) << y.status();
        ExpectNear((*y)[0], Multiplied(c, transposed, x, w), c.k, result);
        const auto again = RunKernel(Registry(), MatmulSpec(c, type, result, transposed, 2), {x, w, CountsOf(c)});
        ASSERT_TRUE(again.ok()) << again.status();
        EXPECT_EQ((*again)[0], (*y)[0]) << "two threads";
      }
    }
  }
}

TEST(GroupedTest, SumsOuterProductsAsPlainLoopsDo) {
  for (const Case& c : kCases) {
    for (const auto& [type, result] : kTypes) {
      const Values a = RandomValues(c.outer * c.rows * c.k, 1, -1, 1, type);
      const Values b = RandomValues(c.outer * c.rows * c.m, 2, -1, 1, type);
      const auto y = RunKernel(Registry(), OuterSpec(c, type, result), {a, b, CountsOf(c)});
      ASSERT_TRUE(y.ok()) << y.status();
      ExpectNear((*y)[0], Outer(c, a, b), c.outer * c.rows, result);
      const auto again = RunKernel(Registry(), OuterSpec(c, type, result, 2), {a, b, CountsOf(c)});
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ((*again)[0], (*y)[0]) << "two threads";
    }
  }
}

// A rank with matrices 2 and 3 of four, the last of which is padding: the rows of the others are zeros.
TEST(GroupedTest, ATileOfTheMatricesYieldsItsRowsAlone) {
  for (int64_t outer : {1, 2}) {
    Case c{outer, 10, 5, 7, {3, 1, 4}};
    if (outer == 2) c.counts.insert(c.counts.end(), {0, 6, 2});
    const Values x = RandomValues(outer * 50, 1), w = RandomValues(3 * 35, 2), b = RandomValues(outer * 70, 3);
    KernelSpec matmul = MatmulSpec(c, DType::kF32, DType::kF32, false);
    matmul.inputs[1] = {DType::kF32, {2, 5, 7}, {3, 5, 7}, {2, 0, 0}, {4, 5, 7}};
    Values own = w;
    std::fill_n(own.begin(), 70, 0.0);
    Values tile(own.begin() + 70, own.end());
    tile.resize(70, 9.0);  // what padding holds does not matter
    const auto y = RunKernel(Registry(), matmul, {x, tile, CountsOf(c)});
    ASSERT_TRUE(y.ok()) << y.status();
    ExpectNear((*y)[0], Multiplied(c, false, x, own), c.k, DType::kF32);

    KernelSpec product = OuterSpec(c, DType::kF32, DType::kF32);
    product.outputs[0] = matmul.inputs[1];
    const auto sums = RunKernel(Registry(), product, {x, b, CountsOf(c)});
    ASSERT_TRUE(sums.ok()) << sums.status();
    const Values whole = Outer(c, x, b);
    Values want(whole.begin() + 70, whole.end());
    want.resize(70, 0.0);
    ExpectNear((*sums)[0], want, outer * 10, DType::kF32);
  }
}

TEST(GroupedTest, RefusesWrongCounts) {
  const Case c{2, 4, 2, 2, {1, 3, 2, 2}};
  const Values x = RandomValues(16, 1), w = RandomValues(8, 2);
  for (const auto& [counts, error] : {std::pair<Values, const char*>{{1, 3, 2, 3}, "count of group 1 of 1"},
                                      {{1, 3, -1, 2}, "count of group 0 of 1"}}) {
    for (const KernelSpec& spec :
         {MatmulSpec(c, DType::kF32, DType::kF32, false), OuterSpec(c, DType::kF32, DType::kF32)}) {
      const bool outer = spec.name == "grouped_outer";
      const auto y = RunKernel(Registry(), spec, {x, outer ? x : w, counts});
      ASSERT_FALSE(y.ok());
      EXPECT_EQ(y.status().code(), absl::StatusCode::kOutOfRange);
      EXPECT_THAT(y.status().message(), HasSubstr(error));
      EXPECT_THAT(y.status().message(), HasSubstr("expected 0 or more, and 4 rows in all groups, got"));
    }
  }
}

TEST(GroupedTest, RefusesOperandsThatDoNotFit) {
  const Case c{2, 4, 2, 3, {1, 3, 2, 2}};
  const auto error_of = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  KernelSpec spec = MatmulSpec(c, DType::kF32, DType::kF32, false);
  spec.inputs[1].dtype = DType::kBF16;
  EXPECT_THAT(error_of(spec), HasSubstr("expected operands of one type"));
  spec = MatmulSpec(c, DType::kF32, DType::kBF16, false);
  EXPECT_THAT(error_of(spec), HasSubstr("output 0: expected f32 or f32, got bf16"));
  spec = MatmulSpec(c, DType::kF32, DType::kF32, true);
  spec.attributes = {};
  EXPECT_THAT(error_of(spec), HasSubstr("input 1"));
  spec = MatmulSpec(c, DType::kF32, DType::kF32, false);
  spec.inputs[0] = Tile(DType::kF32, {2, 4, 2}, {2, 8, 2}, {0, 4, 0});
  EXPECT_THAT(error_of(spec), HasSubstr("expected whole rows and counts"));
  spec = OuterSpec(c, DType::kF32, DType::kF32);
  spec.inputs[2].dtype = DType::kI64;
  EXPECT_THAT(error_of(spec), HasSubstr("input 2: expected i32"));
}

}  // namespace
}  // namespace weft
