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
    RegisterEmbeddingKernels(*made);
    return made;
  }();
  return *registry;
}

struct Case {
  Dims positions;
  int64_t vocabulary, width;
};

const Case kCases[] = {{{}, 3, 1}, {{1}, 1, 5}, {{7}, 4, 33}, {{2, 13}, 50, 96}, {{40, 50}, 300, 600}};

int64_t Count(const Dims& dims) { return TensorSpec::Whole(DType::kF32, dims).elements(); }

Dims With(Dims dims, int64_t last) {
  dims.push_back(last);
  return dims;
}

KernelSpec Lookup(const Case& c, int threads) {
  KernelSpec spec;
  spec.name = "embedding";
  spec.threads = threads;
  spec.inputs = {TensorSpec::Whole(DType::kI32, c.positions), TensorSpec::Whole(DType::kF32, {c.vocabulary, c.width})};
  spec.outputs = {TensorSpec::Whole(DType::kF32, With(c.positions, c.width))};
  return spec;
}

KernelSpec Gradient(const Case& c, int threads) {
  KernelSpec spec;
  spec.name = "embedding_grad";
  spec.threads = threads;
  spec.attributes.Set("vocab", c.vocabulary);
  spec.inputs = {TensorSpec::Whole(DType::kI32, c.positions),
                 TensorSpec::Whole(DType::kF32, With(c.positions, c.width))};
  spec.outputs = {TensorSpec::Whole(DType::kF32, {c.vocabulary, c.width})};
  return spec;
}

Values Ids(const Case& c) {
  Values ids = RandomValues(Count(c.positions), 1, 0, static_cast<double>(c.vocabulary), DType::kI32);
  for (size_t i = 0; i < ids.size(); i += 2) ids[i] = static_cast<double>(c.vocabulary - 1);  // a frequent one
  return ids;
}

TEST(EmbeddingTest, LooksUpRows) {
  for (const Case& c : kCases) {
    const Values ids = Ids(c), table = RandomValues(c.vocabulary * c.width, 2);
    for (int threads : {1, 2}) {
      auto y = RunKernel(Registry(), Lookup(c, threads), {ids, table});
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t i = 0; i < (*y)[0].size(); ++i) {
        ASSERT_EQ((*y)[0][i], table[static_cast<int64_t>(ids[i / c.width]) * c.width + i % c.width]);
      }
    }
  }
}

TEST(EmbeddingTest, LooksUpRowsOfOtherTypes) {
  const Case c = {{2, 13}, 50, 96};
  KernelSpec spec = Lookup(c, 1);
  for (DType type : {DType::kF16, DType::kBF16}) {
    const Values ids = Ids(c), table = RandomValues(c.vocabulary * c.width, 2, -1, 1, type);
    spec.inputs[1].dtype = spec.outputs[0].dtype = type;
    auto narrow = RunKernel(Registry(), spec, {ids, table}), wide = RunKernel(Registry(), Lookup(c, 1), {ids, table});
    ASSERT_TRUE(narrow.ok()) << narrow.status();
    EXPECT_EQ((*narrow)[0], wide->at(0));
  }
  spec.outputs[0].dtype = DType::kF32;
  EXPECT_THAT(std::string(Registry().Create(spec).status().message()),
              HasSubstr("output 0: expected the element type of the table, bf16, got f32"));
}

TEST(EmbeddingTest, TilesOfTheVocabularySumToTheWhole) {
  const Case c{{2, 13}, 50, 96};
  const Values ids = Ids(c), table = RandomValues(c.vocabulary * c.width, 2);
  const Values whole = RunKernel(Registry(), Lookup(c, 1), {ids, table})->at(0);
  Values sum(whole.size(), 0);
  for (auto [begin, count] : {std::pair{0, 20}, {20, 29}, {49, 1}}) {
    KernelSpec spec = Lookup(c, 2);
    spec.inputs[1] = Tile(DType::kF32, {count, 96}, {50, 96}, {begin, 0});
    auto y = RunKernel(Registry(), spec, {ids, SliceOf(table, spec.inputs[1])});
    ASSERT_TRUE(y.ok()) << y.status();
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*y)[0][i];
  }
  EXPECT_EQ(sum, whole);
}

TEST(EmbeddingTest, GradientSumsOverRepeatedIds) {
  for (const Case& c : kCases) {
    const Values ids = Ids(c), gradient = RandomValues(Count(c.positions) * c.width, 3);
    Values expected(c.vocabulary * c.width, 0), magnitude = expected;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const size_t at = static_cast<size_t>(ids[i / c.width]) * c.width + i % c.width;
      expected[at] += gradient[i];
      magnitude[at] += std::fabs(gradient[i]);
    }
    auto one = RunKernel(Registry(), Gradient(c, 1), {ids, gradient});
    ASSERT_TRUE(one.ok()) << one.status();
    for (size_t i = 0; i < expected.size(); ++i) {
      const double bound = 0x1.0p-24 * std::fabs(expected[i]) + 2.0 * ids.size() * 0x1.0p-53 * magnitude[i];
      ASSERT_NEAR((*one)[0][i], expected[i], bound);
    }
    EXPECT_EQ(*one, *RunKernel(Registry(), Gradient(c, 2), {ids, gradient}));
  }
}

TEST(EmbeddingTest, GradientOfATileIsAPartOfTheWhole) {
  const Case c{{2, 13}, 50, 96};
  const Values ids = Ids(c), gradient = RandomValues(26 * 96, 3);
  const Values whole = RunKernel(Registry(), Gradient(c, 1), {ids, gradient})->at(0);
  for (auto [begin, count] : {std::pair{0, 20}, {20, 29}, {49, 1}}) {
    KernelSpec spec = Gradient(c, 2);
    spec.outputs[0] = Tile(DType::kF32, {count, 96}, {50, 96}, {begin, 0});
    EXPECT_EQ(RunKernel(Registry(), spec, {ids, gradient})->at(0), SliceOf(whole, spec.outputs[0]));
  }
}

// The bits of the sums by themselves and an addition behind them; into the table itself or another.
TEST(EmbeddingTest, AddsToATable) {
  for (const Case& c : kCases) {
    const Values ids = Ids(c), gradient = RandomValues(Count(c.positions) * c.width, 3);
    const Values before = RandomValues(c.vocabulary * c.width, 4);
    const Values term = RunKernel(Registry(), Gradient(c, 1), {ids, gradient})->at(0);
    for (int threads : {1, 3}) {
      KernelSpec adds = Gradient(c, threads), sums = adds;
      adds.inputs.push_back(adds.outputs[0]);
      sums.inputs.push_back(adds.outputs[0]);
      adds.attributes.Set("epilogue", std::string("add"));
      sums.name = "accumulate_embedding_grad";
      const std::vector<std::pair<int, int>> in_place = {{2, 0}};
      const auto here = RunKernel(Registry(), adds, {ids, gradient, before}, {}, in_place);
      const auto there = RunKernel(Registry(), adds, {ids, gradient, before});
      const auto first = RunKernel(Registry(), sums, {ids, gradient, before}, {.micro_batch = 0}, in_place);
      const auto third = RunKernel(Registry(), sums, {ids, gradient, before}, {.micro_batch = 2}, in_place);
      ASSERT_TRUE(here.ok() && there.ok() && first.ok() && third.ok()) << here.status() << there.status();
      EXPECT_EQ((*first)[0], term);
      for (size_t i = 0; i < term.size(); ++i) {
        const float want = static_cast<float>(before[i]) + static_cast<float>(term[i]);
        ASSERT_EQ((*here)[0][i], want) << i;
        ASSERT_EQ((*there)[0][i], want) << i;
        ASSERT_EQ((*third)[0][i], want) << i;
      }
    }
  }
}

TEST(EmbeddingTest, RefusesIdsOutsideTheVocabulary) {
  const Case c{{4}, 10, 3};
  const Values table(30, 1), rows(12, 1);
  for (double bad : {10.0, -1.0}) {
    const std::string expected = "id of position 2: expected 0 to 9, got " + std::to_string(static_cast<int>(bad));
    auto lookup = RunKernel(Registry(), Lookup(c, 1), {{1, 2, bad, bad}, table});
    EXPECT_EQ(std::string(lookup.status().message()), expected);
    auto gradient = RunKernel(Registry(), Gradient(c, 1), {{1, 2, bad, bad}, rows});
    EXPECT_EQ(std::string(gradient.status().message()), expected);
  }
}

TEST(EmbeddingTest, RefusesWhatDoesNotFit) {
  const Case c{{4}, 10, 3};
  auto message = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  KernelSpec spec = Lookup(c, 1);
  spec.inputs[0].dtype = DType::kF32;
  EXPECT_THAT(message(spec), HasSubstr("embedding: input 0: expected i32, got f32[4]"));
  spec = Lookup(c, 1);
  spec.outputs[0] = TensorSpec::Whole(DType::kF32, {4, 5});
  EXPECT_THAT(message(spec), HasSubstr("output 0: expected dim 1 to be 3, got f32[4,5]"));
  spec = Lookup(c, 1);
  spec.inputs[1] = TensorSpec::Whole(DType::kF32, {3});
  EXPECT_THAT(message(spec), HasSubstr("input 1: expected rank 2, got f32[3]"));
  spec = Gradient(c, 1);
  spec.attributes.Set("vocab", int64_t{11});
  EXPECT_THAT(message(spec), HasSubstr("output 0: expected a tile of 11 rows, got f32[10,3]"));
  spec = Gradient(c, 1);
  spec.attributes.Set("epilogue", std::string("gelu"));
  EXPECT_THAT(message(spec), HasSubstr("attribute `epilogue`: expected add, got `gelu`"));
  spec.attributes.Set("epilogue", std::string("add"));
  EXPECT_THAT(message(spec), HasSubstr("expected 3 inputs and 1 outputs, got 2 and 1"));
  spec.name = "accumulate_embedding_grad";
  EXPECT_THAT(message(spec), HasSubstr("attribute `epilogue`: expected none, got `add`"));
}

}  // namespace
}  // namespace weft
