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
using weft::testing::SliceOf;
using weft::testing::Tile;
using weft::testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterGatherKernels(*made);
    return made;
  }();
  return *registry;
}

// A table of `dims`, from whose dim `dim` ids of `positions` choose, in each of the first `batch` dims anew.
struct Case {
  Dims dims;
  int64_t dim, batch;
  Dims positions;
};

const Case kCases[] = {{{5}, 0, 0, {}},           {{1}, 0, 0, {3}},       {{7, 33}, 0, 0, {2, 9}},
                       {{3, 7, 5}, 1, 0, {4}},    {{3, 4, 7}, 2, 2, {6}}, {{3, 7, 600}, 1, 1, {40}},
                       {{2, 3, 5, 4}, 2, 1, {8}}, {{4, 6}, 1, 1, {}},     {{2, 5, 9, 70}, 2, 2, {3, 4}},
                       {{2, 90, 300}, 1, 1, {50}}};

Dims Joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Dims Head(const Dims& dims, int64_t count) { return Dims(dims.begin(), dims.begin() + count); }
Dims Tail(const Dims& dims, int64_t from) { return Dims(dims.begin() + from, dims.end()); }

struct Specs {
  TensorSpec table, ids, rows;
};

Specs SpecsOf(const Case& c, DType type = DType::kF32, DType id_type = DType::kI32) {
  const Dims rows = Joined(Joined(Head(c.dims, c.dim), c.positions), Tail(c.dims, c.dim + 1));
  return {TensorSpec::Whole(type, c.dims), TensorSpec::Whole(id_type, Joined(Head(c.dims, c.batch), c.positions)),
          TensorSpec::Whole(type, rows)};
}

KernelSpec Spec(const std::string& name, const Case& c, const Specs& specs, int threads = 1) {
  KernelSpec spec;
  spec.name = name;
  spec.threads = threads;
  spec.attributes.Set("dim", c.dim);
  if (c.batch > 0) spec.attributes.Set("batch", c.batch);
  if (name == "take") {
    spec.inputs = {specs.table, specs.ids};
    spec.outputs = {specs.rows};
  } else if (name == "scatter_add") {
    spec.attributes.Set("size", specs.table.global_dims[c.dim]);
    spec.inputs = {specs.rows, specs.ids};
    spec.outputs = {specs.table};
  } else {
    spec.inputs = {specs.table, specs.ids, specs.rows};
    spec.outputs = {specs.table};
  }
  return spec;
}

// Every second one is the same, a frequent one.
Values IdsOf(const Case& c, const Specs& specs) {
  Values ids = RandomValues(specs.ids.elements(), 1, 0, static_cast<double>(c.dims[c.dim]), DType::kI32);
  for (size_t i = 0; i < ids.size(); i += 2) ids[i] = static_cast<double>(c.dims[c.dim] - 1);
  return ids;
}

int64_t Product(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

// Calls visit(index in the rows, index in the table, index of the position among all) for each element of the rows.
template <typename Visit>
void ForEachElement(const Case& c, const Values& ids, Visit visit) {
  const int64_t batch = Product(Head(c.dims, c.batch)), outer = Product(Head(c.dims, c.dim)) / batch;
  const int64_t positions = Product(c.positions), inner = Product(Tail(c.dims, c.dim + 1)), count = c.dims[c.dim];
  int64_t row = 0;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t p = 0; p < positions; ++p) {
        const auto id = static_cast<int64_t>(ids[b * positions + p]);
        for (int64_t i = 0; i < inner; ++i, ++row) {
          visit(row, ((b * outer + o) * count + id) * inner + i, b * positions + p);
        }
      }
    }
  }
}

// Whether a later position of the batch has the same id.
bool Comes(const Case& c, const Values& ids, int64_t position) {
  const int64_t positions = Product(c.positions), end = (position / positions + 1) * positions;
  for (int64_t p = position + 1; p < end; ++p) {
    if (ids[p] == ids[position]) return true;
  }
  return false;
}

TEST(GatherTest, TakesRows) {
  for (const Case& c : kCases) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16, DType::kI32, DType::kI64}) {
      for (DType id_type : {DType::kI32, DType::kI64}) {
        const Specs specs = SpecsOf(c, type, id_type);
        const Values table = RandomValues(specs.table.elements(), 2, -99, 99, DType::kI32), ids = IdsOf(c, specs);
        for (bool last : {false, true}) {
          KernelSpec spec = Spec("take", c, specs);
          if (last) spec.attributes.Set("last", int64_t{1});
          const auto y = RunKernel(Registry(), spec, {table, ids});
          ASSERT_TRUE(y.ok()) << y.status();
          ForEachElement(c, ids, [&](int64_t row, int64_t at, int64_t position) {
            ASSERT_EQ((*y)[0][row], last && Comes(c, ids, position) ? 0 : table[at]) << row;
          });
          spec.threads = 2;
          EXPECT_EQ(*RunKernel(Registry(), spec, {table, ids}), *y);
        }
      }
    }
  }
}

TEST(GatherTest, AddsRowsUpByTheirIds) {
  for (const Case& c : kCases) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
      const double unit = type == DType::kF32 ? 0x1p-24 : type == DType::kBF16 ? 0x1.01p-8 : 0x1.01p-11;
      const Specs specs = SpecsOf(c, type);
      const Values updates = RandomValues(specs.rows.elements(), 3, -1, 1, type), ids = IdsOf(c, specs);
      Values expected(specs.table.elements(), 0), magnitude = expected;
      ForEachElement(c, ids, [&](int64_t row, int64_t at, int64_t) {
        expected[at] += updates[row];
        magnitude[at] += std::fabs(updates[row]);
      });
      const auto y = RunKernel(Registry(), Spec("scatter_add", c, specs), {updates, ids});
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t i = 0; i < expected.size(); ++i) {
        const double bound = unit * std::fabs(expected[i]) + static_cast<double>(ids.size()) * 0x1p-52 * magnitude[i];
        ASSERT_NEAR((*y)[0][i], expected[i], bound + (type == DType::kF16 ? 0x1p-25 : 0)) << NameOf(type) << " " << i;
      }
      EXPECT_EQ(*RunKernel(Registry(), Spec("scatter_add", c, specs, 2), {updates, ids}), *y);
    }
  }
}

TEST(GatherTest, SumsOfIntegersAreExactAndWrapAround) {
  for (DType type : {DType::kI32, DType::kI64}) {
    const Case c = {{3, 7, 5}, 1, 1, {40}};
    const Specs specs = SpecsOf(c, type, DType::kI64);
    const Values updates = RandomValues(specs.rows.elements(), 3, -99, 99, DType::kI32), ids = IdsOf(c, specs);
    Values expected(specs.table.elements(), 0);
    ForEachElement(c, ids, [&](int64_t row, int64_t at, int64_t) { expected[at] += updates[row]; });
    EXPECT_EQ(RunKernel(Registry(), Spec("scatter_add", c, specs), {updates, ids})->at(0), expected);
  }
  const Case c = {{2}, 0, 0, {3}};
  EXPECT_EQ(
      RunKernel(Registry(), Spec("scatter_add", c, SpecsOf(c, DType::kI32)), {{2147483647, 5, 2}, {0, 1, 0}})->at(0),
      Values({-2147483647, 5}));
}

TEST(GatherTest, SetsRowsAndTheLastOneCounts) {
  for (const Case& c : kCases) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kI64}) {
      const Specs specs = SpecsOf(c, type);
      const Values x = RandomValues(specs.table.elements(), 2, -99, 99, DType::kI32), ids = IdsOf(c, specs);
      const Values updates = RandomValues(specs.rows.elements(), 3, -99, 99, DType::kI32);
      Values expected = x;
      ForEachElement(c, ids, [&](int64_t row, int64_t at, int64_t) { expected[at] = updates[row]; });
      for (int threads : {1, 2}) {
        const KernelSpec spec = Spec("scatter_set", c, specs, threads);
        const auto y = RunKernel(Registry(), spec, {x, ids, updates});
        ASSERT_TRUE(y.ok()) << y.status();
        EXPECT_EQ((*y)[0], expected);
        EXPECT_EQ(RunKernel(Registry(), spec, {x, ids, updates}, {}, {{0, 0}})->at(0), expected);
      }
    }
  }
}

TEST(GatherTest, TilesOfTheRows) {
  const Case c = {{2, 50, 9}, 1, 1, {13}};
  const Specs specs = SpecsOf(c);
  const Values table = RandomValues(specs.table.elements(), 2), ids = IdsOf(c, specs);
  const Values updates = RandomValues(specs.rows.elements(), 3);
  const Values taken = RunKernel(Registry(), Spec("take", c, specs), {table, ids})->at(0);
  const Values added = RunKernel(Registry(), Spec("scatter_add", c, specs), {updates, ids})->at(0);
  const Values set = RunKernel(Registry(), Spec("scatter_set", c, specs), {table, ids, updates})->at(0);
  Values sum(taken.size(), 0);
  for (auto [begin, count] : {std::pair{0, 20}, {20, 29}, {49, 1}}) {
    Specs part = specs;
    part.table = Tile(DType::kF32, {2, count, 9}, {2, 50, 9}, {0, begin, 0});
    const Values rows = SliceOf(table, part.table);
    const auto y = RunKernel(Registry(), Spec("take", c, part), {rows, ids});
    ASSERT_TRUE(y.ok()) << y.status();
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*y)[0][i];
    EXPECT_EQ(RunKernel(Registry(), Spec("scatter_add", c, part), {updates, ids})->at(0), SliceOf(added, part.table));
    EXPECT_EQ(RunKernel(Registry(), Spec("scatter_set", c, part), {rows, ids, updates})->at(0),
              SliceOf(set, part.table));
  }
  EXPECT_EQ(sum, taken);
}

TEST(GatherTest, RefusesIdsOutsideTheTable) {
  const Case c = {{10, 3}, 0, 0, {4}};
  const Values table(30, 1), rows(12, 1);
  for (DType id_type : {DType::kI32, DType::kI64}) {
    const Specs specs = SpecsOf(c, DType::kF32, id_type);
    for (double bad : {10.0, -1.0}) {
      const std::string expected = "id of position 2: expected 0 to 9, got " + std::to_string(static_cast<int>(bad));
      const Values ids = {1, 2, bad, bad};
      for (const char* name : {"take", "scatter_add", "scatter_set"}) {
        const KernelSpec spec = Spec(name, c, specs);
        std::vector<Values> inputs = {name == std::string("scatter_add") ? rows : table, ids, rows};
        inputs.resize(spec.inputs.size());
        EXPECT_EQ(std::string(RunKernel(Registry(), spec, inputs).status().message()), expected) << name;
      }
    }
  }
}

TEST(GatherTest, RefusesWhatDoesNotFit) {
  auto message = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  const Case c = {{2, 10, 3}, 1, 1, {4}};
  Specs specs = SpecsOf(c, DType::kF32, DType::kF32);
  EXPECT_THAT(message(Spec("take", c, specs)), HasSubstr("input 1: expected i32 or i64, got f32[2,4]"));
  specs = SpecsOf(c, DType::kU8);
  EXPECT_THAT(message(Spec("take", c, specs)), HasSubstr("expected f32, bf16, f16, i32 or i64, got u8[2,10,3]"));
  specs = SpecsOf(c);
  specs.rows = TensorSpec::Whole(DType::kF32, {2, 4, 4});
  EXPECT_THAT(message(Spec("scatter_add", c, specs)),
              HasSubstr("expected the rows of f32[2,10,3] along dim 1 that i32[2,4] names, got f32[2,4,4]"));
  specs = SpecsOf(c);
  KernelSpec spec = Spec("scatter_add", c, specs);
  spec.attributes.Set("size", int64_t{11});
  EXPECT_THAT(message(spec), HasSubstr("output 0: expected a tile of 11 rows, got f32[2,10,3]"));
  specs.ids = Tile(DType::kI32, {2, 4}, {2, 8}, {0, 4});
  EXPECT_THAT(message(Spec("scatter_set", c, specs)),
              HasSubstr("input 1: expected the dims from 1 on to be whole, got i32[2,4] of [2,8] at (0,4)"));
  spec = Spec("take", c, SpecsOf(c));
  spec.attributes.Set("dim", int64_t{3});
  EXPECT_THAT(message(spec), HasSubstr("attribute `dim`: expected 0 to 2, got 3"));
}

}  // namespace
}  // namespace weft
