#include <cmath>
#include <limits>

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

constexpr double kUnit = 0x1.0p-24;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterLossKernels(*made);
    return made;
  }();
  return *registry;
}

// Logits of `rows` by `vocabulary` and what belongs to them, in double; the
// f32 values that kernels get are these, rounded.
struct Problem {
  Dims rows;
  int64_t vocabulary;
  int64_t ignore = -100;
  Values logits, labels, max, sum, picked;
  double loss = 0, magnitude = 0, count = 0;

  Problem(Dims shape, int64_t v, int64_t ignored) : rows(std::move(shape)), vocabulary(v), ignore(ignored) {
    const int64_t n = TensorSpec::Whole(DType::kF32, rows).elements();
    logits = RandomValues(n * v, 1, -8, 8);
    labels = RandomValues(n, 2, 0, static_cast<double>(v), DType::kI32);
    for (int64_t i = 0; i < n; ++i) {
      if (i % 5 == 3) labels[i] = static_cast<double>(ignore);
      const double* row = &logits[i * v];
      max.push_back(*std::max_element(row, row + v));
      double total = 0;
      for (int64_t k = 0; k < v; ++k) total += std::exp(row[k] - max.back());
      sum.push_back(static_cast<float>(total));
      picked.push_back(Counts(i) ? row[static_cast<int64_t>(labels[i])] : 0);
      if (!Counts(i)) continue;
      loss += std::log(sum.back()) + max.back() - picked.back();
      magnitude += std::fabs(std::log(sum.back())) + std::fabs(max.back()) + std::fabs(picked.back());
      ++count;
    }
  }
  bool Counts(int64_t i) const { return labels[i] != static_cast<double>(ignore); }
  Dims WithVocabulary() const {
    Dims dims = rows;
    dims.push_back(vocabulary);
    return dims;
  }
  TensorSpec Logits() const { return TensorSpec::Whole(DType::kF32, WithVocabulary()); }
  TensorSpec Row(DType type = DType::kF32) const { return TensorSpec::Whole(type, rows); }
  // The columns [begin, begin + count).
  TensorSpec LogitsTile(int64_t begin, int64_t count) const {
    TensorSpec tile = Logits();
    tile.dims.back() = count;
    tile.origin.back() = begin;
    return tile;
  }
};

const Problem kProblems[] = {{{}, 1, -100},    {{}, 7, -100},      {{1}, 50, -1},
                             {{4, 9}, 257, 0}, {{3, 700}, 40, 39}, {{2, 5}, 10007, -100}};

KernelSpec Spec(const char* name, std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs, int64_t ignore,
                int threads) {
  KernelSpec spec;
  spec.name = name;
  spec.inputs = std::move(inputs);
  spec.outputs = std::move(outputs);
  spec.threads = threads;
  spec.attributes.Set("ignore_index", ignore);
  return spec;
}

TensorSpec Scalar() { return TensorSpec::Whole(DType::kF32, {}); }

TEST(LossTest, SumExp) {
  for (const Problem& p : kProblems) {
    for (int threads : {1, 2}) {
      auto y = RunKernel(Registry(), Spec("sum_exp", {p.Logits(), p.Row()}, {p.Row()}, 0, threads), {p.logits, p.max});
      ASSERT_TRUE(y.ok()) << y.status();
      for (size_t i = 0; i < p.sum.size(); ++i) {
        // logit - max, up to 16 in magnitude, is rounded: that times exp is the derivative.
        ASSERT_NEAR((*y)[0][i], p.sum[i], p.sum[i] * (16 + 4) * kUnit);
      }
    }
  }
}

TEST(LossTest, PickAndItsTiles) {
  for (const Problem& p : kProblems) {
    const KernelSpec spec = Spec("pick", {p.Logits(), p.Row(DType::kI32)}, {p.Row()}, p.ignore, 2);
    auto y = RunKernel(Registry(), spec, {p.logits, p.labels});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0], p.picked);
    const int64_t half = p.vocabulary / 2;
    Values sum(p.picked.size(), 0);
    for (auto [begin, count] : {std::pair{int64_t{0}, half}, {half, p.vocabulary - half}}) {
      if (count == 0) continue;
      const TensorSpec tile = p.LogitsTile(begin, count);
      auto part = RunKernel(Registry(), Spec("pick", {tile, p.Row(DType::kI32)}, {p.Row()}, p.ignore, 1),
                            {SliceOf(p.logits, tile), p.labels});
      ASSERT_TRUE(part.ok()) << part.status();
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*part)[0][i];
    }
    EXPECT_EQ(sum, p.picked);
  }
}

TEST(LossTest, LossAndCount) {
  for (const Problem& p : kProblems) {
    std::vector<Values> first;
    for (int threads : {1, 2}) {
      auto y = RunKernel(Registry(),
                         Spec("cross_entropy_loss", {p.Row(), p.Row(), p.Row(), p.Row(DType::kI32)},
                              {Scalar(), Scalar()}, p.ignore, threads),
                         {p.max, p.sum, p.picked, p.labels});
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_NEAR((*y)[0][0], p.loss, kUnit * std::fabs(p.loss) + 1e-12 * p.magnitude);
      EXPECT_EQ((*y)[1][0], p.count);
      if (first.empty()) first = *y;
      EXPECT_EQ(*y, first);
    }
  }
}

// Of each row, some 0.
Values WeightsOf(const Problem& p) {
  Values weights = RandomValues(static_cast<int64_t>(p.labels.size()), 5, 0.25, 3);
  for (size_t i = 0; i < weights.size(); i += 4) weights[i] = 0;
  return weights;
}

TEST(LossTest, RowsCountAsOftenAsTheirWeightsSay) {
  for (const Problem& p : kProblems) {
    Values weights = WeightsOf(p), sum = p.sum;
    double loss = 0, magnitude = 0, count = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0) sum[i] = std::numeric_limits<double>::infinity();  // says nothing
      if (weights[i] == 0 || !p.Counts(static_cast<int64_t>(i))) continue;
      loss += weights[i] * (std::log(p.sum[i]) + p.max[i] - p.picked[i]);
      magnitude += weights[i] * (std::fabs(std::log(p.sum[i])) + std::fabs(p.max[i]) + std::fabs(p.picked[i]));
      count += weights[i];
    }
    const TensorSpec row = p.Row();
    const auto spec = [&](int threads) {
      return Spec("cross_entropy_loss", {row, row, row, p.Row(DType::kI32), row}, {Scalar(), Scalar()}, p.ignore,
                  threads);
    };
    auto y = RunKernel(Registry(), spec(1), {p.max, sum, p.picked, p.labels, weights});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_NEAR((*y)[0][0], loss, kUnit * std::fabs(loss) + 1e-12 * magnitude);
    EXPECT_NEAR((*y)[1][0], count, kUnit * count);
    EXPECT_EQ(*y, *RunKernel(Registry(), spec(2), {p.max, sum, p.picked, p.labels, weights}));
  }
}

// PyTorch's definition: the label's probability is 1 - e + e / v, that of every other class e / v.
TEST(LossTest, GradientOfSmoothedLabelsAndWeights) {
  for (const Problem& p : kProblems) {
    for (double smoothing : {0.0, 0.1, 1.0}) {
      const double scale = 0.75, all = smoothing / static_cast<double>(p.vocabulary);
      const Values weights = WeightsOf(p);
      const auto specs = [&](const TensorSpec& logits, int threads) {
        KernelSpec spec = Spec("cross_entropy_grad", {Scalar(), logits, p.Row(), p.Row(), p.Row(DType::kI32), p.Row()},
                               {logits}, p.ignore, threads);
        spec.attributes.Set("label_smoothing", smoothing);
        return spec;
      };
      auto whole = RunKernel(Registry(), specs(p.Logits(), 1), {{scale}, p.logits, p.max, p.sum, p.labels, weights});
      ASSERT_TRUE(whole.ok()) << whole.status();
      for (size_t i = 0; i < p.logits.size(); ++i) {
        const size_t row = i / p.vocabulary;
        const double probability = std::exp(p.logits[i] - p.max[row]) / p.sum[row];
        const bool hit = static_cast<double>(i % p.vocabulary) == p.labels[row];
        const double target = all + (hit ? 1 - smoothing : 0), factor = scale * weights[row];
        const double expected = p.Counts(static_cast<int64_t>(row)) ? factor * (probability - target) : 0;
        ASSERT_NEAR((*whole)[0][i], expected, factor * (probability * 24 + target * 3) * kUnit);
      }
      const int64_t half = p.vocabulary / 2;
      for (auto [begin, count] : {std::pair{int64_t{0}, half}, {half, p.vocabulary - half}}) {
        if (count == 0) continue;
        const TensorSpec tile = p.LogitsTile(begin, count);
        auto part = RunKernel(Registry(), specs(tile, 2),
                              {{scale}, SliceOf(p.logits, tile), p.max, p.sum, p.labels, weights}, {}, {{1, 0}});
        ASSERT_TRUE(part.ok()) << part.status();
        EXPECT_EQ((*part)[0], SliceOf((*whole)[0], tile));
      }
    }
  }
}

TEST(LossTest, GradientAndItsTiles) {
  for (const Problem& p : kProblems) {
    const double scale = 0.75;
    auto specs = [&](const TensorSpec& logits, int threads) {
      return Spec("cross_entropy_grad", {Scalar(), logits, p.Row(), p.Row(), p.Row(DType::kI32)}, {logits}, p.ignore,
                  threads);
    };
    auto whole = RunKernel(Registry(), specs(p.Logits(), 1), {{scale}, p.logits, p.max, p.sum, p.labels});
    ASSERT_TRUE(whole.ok()) << whole.status();
    for (size_t i = 0; i < p.logits.size(); ++i) {
      const size_t row = i / p.vocabulary;
      const double probability = std::exp(p.logits[i] - p.max[row]) / p.sum[row];
      const double hit = static_cast<double>(i % p.vocabulary) == p.labels[row] ? 1 : 0;
      const double expected = p.Counts(static_cast<int64_t>(row)) ? scale * (probability - hit) : 0;
      // Relative 16 + 3 + 4 units of the probability, then one of the result.
      ASSERT_NEAR((*whole)[0][i], expected, scale * (probability * 23 + std::fabs(probability - hit) * 2) * kUnit);
    }
    EXPECT_EQ(*whole,
              *RunKernel(Registry(), specs(p.Logits(), 2), {{scale}, p.logits, p.max, p.sum, p.labels}, {}, {{1, 0}}));
    const int64_t half = p.vocabulary / 2;
    for (auto [begin, count] : {std::pair{int64_t{0}, half}, {half, p.vocabulary - half}}) {
      if (count == 0) continue;
      const TensorSpec tile = p.LogitsTile(begin, count);
      auto part = RunKernel(Registry(), specs(tile, 2), {{scale}, SliceOf(p.logits, tile), p.max, p.sum, p.labels});
      ASSERT_TRUE(part.ok()) << part.status();
      EXPECT_EQ((*part)[0], SliceOf((*whole)[0], tile));
    }
  }
}

TEST(LossTest, RefusesLabelsOutsideTheVocabulary) {
  const TensorSpec logits = Tile(DType::kF32, {3, 4}, {3, 10}, {0, 4}), row = TensorSpec::Whole(DType::kF32, {3}),
                   labels = TensorSpec::Whole(DType::kI32, {3});
  const Values x(12, 0), ones(3, 1);
  for (double bad : {10.0, -1.0}) {
    const std::string expected =
        "label of position 1: expected 0 to 9 or -100 to ignore it, got " + std::to_string(static_cast<int>(bad));
    auto pick = RunKernel(Registry(), Spec("pick", {logits, labels}, {row}, -100, 1), {x, {9, bad, -100}});
    EXPECT_EQ(std::string(pick.status().message()), expected);
    const KernelSpec spec = Spec("cross_entropy_grad", {Scalar(), logits, row, row, labels}, {logits}, -100, 1);
    auto grad = RunKernel(Registry(), spec, {{1}, x, ones, ones, {0, bad, -100}});
    EXPECT_EQ(std::string(grad.status().message()), expected);
  }
}

TEST(LossTest, RefusesWhatDoesNotFit) {
  const TensorSpec logits = TensorSpec::Whole(DType::kF32, {3, 4}), row = TensorSpec::Whole(DType::kF32, {3}),
                   labels = TensorSpec::Whole(DType::kI32, {3}), other = TensorSpec::Whole(DType::kF32, {4});
  auto message = [](const KernelSpec& spec) { return std::string(Registry().Create(spec).status().message()); };
  EXPECT_THAT(message(Spec("pick", {logits, row}, {row}, -100, 1)), HasSubstr("input 1: expected i32, got f32[3]"));
  EXPECT_THAT(message(Spec("sum_exp", {logits, other}, {row}, -100, 1)),
              HasSubstr("sum_exp: input 1: expected leading dims [3], got f32[4]"));
  EXPECT_THAT(message(Spec("cross_entropy_loss", {row, row, row, labels}, {Scalar()}, -100, 1)),
              HasSubstr("expected 4 inputs and 2 outputs, got 4 and 1"));
  EXPECT_THAT(message(Spec("cross_entropy_grad", {row, logits, row, row, labels}, {logits}, -100, 1)),
              HasSubstr("input 0: expected rank 0, got f32[3]"));
}

}  // namespace
}  // namespace weft
