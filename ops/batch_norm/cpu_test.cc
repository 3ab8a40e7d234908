#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using ::testing::HasSubstr;
using testing::RandomValues;
using testing::RunKernel;
using testing::Values;
using Dims = std::vector<int64_t>;

constexpr double kEps = 1e-5;

const KernelRegistry& Registry() {
  static const auto* const registry = [] {
    auto* const filled = new KernelRegistry;
    RegisterBatchNormKernels(*filled);
    return filled;
  }();
  return *registry;
}

struct Case {
  Dims dims, over;

  friend void PrintTo(const Case& one, std::ostream* os) {
    *os << TensorSpec::Whole(DType::kF32, one.dims).ToString() << " over " << ::testing::PrintToString(one.over);
  }
};
const Case kCases[] = {
    {{5, 7}, {0}},
    {{33, 300}, {0}},           // more columns than a task has
    {{3, 5, 4, 6}, {0, 2, 3}},  // images, channels first
    {{3, 4, 2, 5}, {0, 1, 2}},  // channels last
    {{2, 6, 5}, {1}},           // parts of a batch
    {{2, 3, 4, 5, 6}, {1, 3}},  // dims apart
    {{600, 3, 40}, {0, 2}},     // several threads
    {{1, 4}, {0}},
    {{4, 1}, {0}},
};

// The plain loops, in double.
struct Plain {
  explicit Plain(const Case& it) : dims(it.dims), over(it.over) {
    for (size_t d = 0; d < dims.size(); ++d) {
      const bool reduced = std::find(over.begin(), over.end(), static_cast<int64_t>(d)) != over.end();
      (reduced ? count : statistics) *= dims[d];
      if (!reduced) kept.push_back(dims[d]);
    }
    for (int64_t i = 0; i < statistics * count; ++i) {
      int64_t rest = i, k = 0, stride = 1;
      for (size_t d = dims.size(); d-- > 0;) {
        if (std::find(over.begin(), over.end(), static_cast<int64_t>(d)) == over.end()) {
          k += rest % dims[d] * stride;
          stride *= dims[d];
        }
        rest /= dims[d];
      }
      index.push_back(k);
    }
  }

  Values SumOf(const Values& terms) const {
    Values sums(statistics, 0.0);
    for (size_t i = 0; i < terms.size(); ++i) sums[index[i]] += terms[i];
    return sums;
  }
  Values Map(const std::function<double(size_t i, int64_t k, int64_t c)>& of) const {
    Values values;
    for (size_t i = 0; i < index.size(); ++i) values.push_back(of(i, index[i], index[i] % kept.back()));
    return values;
  }

  Dims dims, over, kept;
  std::vector<int64_t> index;  // the kept index of each element
  int64_t statistics = 1, count = 1;
};

class BatchNormTest : public ::testing::TestWithParam<Case> {
 protected:
  KernelSpec Spec(const char* name, const char* inputs, const char* outputs, int threads = 1) const {
    const auto of = [&](char letter) {
      return TensorSpec::Whole(DType::kF32, letter == 'x'   ? plain_.dims
                                            : letter == 'k' ? plain_.kept
                                                            : Dims{plain_.kept.back()});
    };
    KernelSpec spec{.name = name, .threads = threads};
    for (const char* it = inputs; *it != 0; ++it) spec.inputs.push_back(of(*it));
    for (const char* it = outputs; *it != 0; ++it) spec.outputs.push_back(of(*it));
    spec.attributes.Set("dims", plain_.over);
    spec.attributes.Set("eps", kEps);
    return spec;
  }

  // The results, the same on any number of threads.
  std::vector<Values> Run(const char* name, const char* inputs, const char* outputs,
                          const std::vector<Values>& values) const {
    const auto one = RunKernel(Registry(), Spec(name, inputs, outputs), values);
    EXPECT_TRUE(one.ok()) << one.status();
    if (!one.ok()) return {};
    for (int threads : {2, 3}) EXPECT_EQ(*one, *RunKernel(Registry(), Spec(name, inputs, outputs, threads), values));
    return *one;
  }

  void ExpectNear(const Values& actual, const Values& expected, double bound) const {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], bound) << i;
  }

  const Plain plain_{GetParam()};
  const int64_t n_ = static_cast<int64_t>(plain_.index.size());
  const Values x_ = RandomValues(n_, 1, -2, 5), dy_ = RandomValues(n_, 2),
               mean_ = RandomValues(plain_.statistics, 3, 1, 2), variance_ = RandomValues(plain_.statistics, 4, 0.5, 2),
               weight_ = RandomValues(plain_.kept.back(), 5), bias_ = RandomValues(plain_.kept.back(), 6);
  double Rstd(int64_t k) const { return 1 / std::sqrt(variance_[k] + kEps); }
};

// Each term has a few roundings to float; sums are rounded once.
constexpr double kUnit = 0x1p-23;

TEST_P(BatchNormTest, VarianceIsTheMeanOfSquaredDistances) {
  Values expected =
      plain_.SumOf(plain_.Map([&](size_t i, int64_t k, int64_t) { return std::pow(x_[i] - mean_[k], 2); }));
  for (double& sum : expected) sum /= static_cast<double>(plain_.count);
  ExpectNear(Run("batch_variance", "xk", "k", {x_, mean_})[0], expected, 16 * 4 * kUnit);
}

TEST_P(BatchNormTest, ApplyIsItsFormula) {
  const Values expected =
      plain_.Map([&](size_t i, int64_t k, int64_t c) { return (x_[i] - mean_[k]) * Rstd(k) * weight_[c] + bias_[c]; });
  ExpectNear(Run("batch_norm_apply", "xkkcc", "x", {x_, mean_, variance_, weight_, bias_})[0], expected, 8 * 6 * kUnit);
}

TEST_P(BatchNormTest, SumsAreTheirFormulas) {
  const auto sums = Run("batch_norm_sums", "xxkk", "kk", {dy_, x_, mean_, variance_});
  const auto n = static_cast<double>(plain_.count);
  ExpectNear(sums[0], plain_.SumOf(dy_), n * kUnit);
  const Values terms = plain_.Map([&](size_t i, int64_t k, int64_t) { return dy_[i] * (x_[i] - mean_[k]) * Rstd(k); });
  ExpectNear(sums[1], plain_.SumOf(terms), n * 6 * 4 * kUnit);
}

// Moving one element moves mean and variance: the gradient of sum(dy y) is that of differences of it.
TEST_P(BatchNormTest, GradIsTheDifferenceOfTheWhole) {
  if (n_ > 1000) return;
  const auto loss = [&](const Values& x) {
    Values mean = plain_.SumOf(x), variance;
    for (double& it : mean) it /= static_cast<double>(plain_.count);
    variance = plain_.SumOf(plain_.Map([&](size_t i, int64_t k, int64_t) { return std::pow(x[i] - mean[k], 2); }));
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t k = plain_.index[i];
      const double rstd = 1 / std::sqrt(variance[k] / static_cast<double>(plain_.count) + kEps);
      sum += dy_[i] * (x[i] - mean[k]) * rstd * weight_[k % plain_.kept.back()];
    }
    return sum;
  };
  Values mean = plain_.SumOf(x_);
  for (double& it : mean) it = static_cast<float>(it / static_cast<double>(plain_.count));
  const Values variance = Run("batch_variance", "xk", "k", {x_, mean})[0];
  const auto sums = Run("batch_norm_sums", "xxkk", "kk", {dy_, x_, mean, variance});
  const Values dx = Run("batch_norm_grad", "xxkkckk", "x", {dy_, x_, mean, variance, weight_, sums[0], sums[1]})[0];
  for (int64_t i = 0; i < n_; ++i) {
    Values up = x_, down = x_;
    up[i] += 1e-4;
    down[i] -= 1e-4;
    ASSERT_NEAR(dx[i], (loss(up) - loss(down)) / 2e-4, 2e-4) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BatchNormTest, ::testing::ValuesIn(kCases));

TEST(BatchNormTilesTest, AVarianceOfATileIsItsPartOfTheWhole) {
  KernelSpec spec{.name = "batch_variance",
                  .inputs = {testing::Tile(DType::kF32, {4, 6}, {16, 6}, {8, 0}), TensorSpec::Whole(DType::kF32, {6})},
                  .outputs = {TensorSpec::Whole(DType::kF32, {6})}};
  spec.attributes.Set("dims", Dims{0});
  const auto y = RunKernel(Registry(), spec, {Values(24, 3.0), Values(6, 1.0)});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0], Values(6, 1.0));  // 4 of 16 squares of 2
}

TEST(BatchNormTilesTest, RefusesWhatDoesNotFit) {
  KernelSpec spec{.name = "batch_variance",
                  .inputs = {TensorSpec::Whole(DType::kF32, {4, 6}), TensorSpec::Whole(DType::kF32, {4})},
                  .outputs = {TensorSpec::Whole(DType::kF32, {6})}};
  const auto error = [&] { return std::string(Registry().Create(spec).status().message()); };
  spec.attributes.Set("dims", Dims{0});
  EXPECT_THAT(error(), HasSubstr("input 1: expected f32[6], got f32[4]"));
  spec.attributes.Set("dims", Dims{0, 1});
  EXPECT_THAT(error(), HasSubstr("attribute `dims`: expected not all dims"));
  spec.attributes.Set("dims", Dims{2});
  EXPECT_THAT(error(), HasSubstr("attribute `dims`: expected distinct dims from 0 to 1, got [2]"));
  spec.attributes.Set("dims", Dims{0});
  spec.inputs[1] = TensorSpec::Whole(DType::kF32, {6});
  spec.inputs[0].dtype = DType::kI32;
  EXPECT_THAT(error(), HasSubstr("input 0: expected f32, bf16 or f16, got i32[4,6]"));
}

}  // namespace
}  // namespace weft
