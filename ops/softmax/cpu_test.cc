#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using testing::RandomValues;
using testing::RunKernel;
using testing::Values;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

Values ReferenceSoftmax(const Values& x, int64_t n) {
  Values y(x.size());
  for (size_t row = 0; row < x.size(); row += n) {
    const double largest = *std::max_element(x.begin() + row, x.begin() + row + n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(x[row + i] - largest);
    for (int64_t i = 0; i < n; ++i) y[row + i] = std::exp(x[row + i] - largest) / sum;
  }
  return y;
}

// The derivative of sum(dy * softmax(x)) with respect to x[at], by central differences.
double Difference(Values x, const Values& dy, int64_t n, size_t at) {
  constexpr double kStep = 1e-5;
  double side[2];
  const double middle = x[at];
  for (int s = 0; s < 2; ++s) {
    x[at] = middle + (s == 0 ? -kStep : kStep);
    const Values y = ReferenceSoftmax(x, n);
    side[s] = 0;
    for (size_t i = 0; i < y.size(); ++i) side[s] += dy[i] * y[i];
  }
  return (side[1] - side[0]) / (2 * kStep);
}

class SoftmaxTest : public ::testing::Test {
 protected:
  SoftmaxTest() { RegisterSoftmaxKernels(registry_); }

  Values Run(const char* name, std::vector<int64_t> dims, int threads, const std::vector<Values>& inputs) {
    KernelSpec spec;
    spec.name = name;
    spec.inputs.assign(inputs.size(), TensorSpec::Whole(DType::kF32, dims));
    spec.outputs = {TensorSpec::Whole(DType::kF32, dims)};
    spec.threads = threads;
    auto got = RunKernel(registry_, spec, inputs);
    EXPECT_TRUE(got.ok()) << got.status().message();
    return got.ok() ? (*got)[0] : Values();
  }

  KernelRegistry registry_;
};

TEST_F(SoftmaxTest, MatchesPlainLoops) {
  for (int64_t n : {1, 2, 15, 16, 17, 100, 1000}) {
    for (int threads : {1, 2}) {
      const Values x = RandomValues(3 * 29 * n, n, -20, 20);
      const Values got = Run("softmax", {3, 29, n}, threads, {x});
      const Values want = ReferenceSoftmax(x, n);
      // The subtraction rounds at 40; the exponential and the sum add their own.
      for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(got[i], want[i], kEpsilon * (40.0 + n + 4) * want[i] + 1e-37);
    }
  }
}

TEST_F(SoftmaxTest, LargeAndMaskedLogits) {
  const double inf = std::numeric_limits<double>::infinity();
  const Values got = Run("softmax", {2, 3}, 1, {{1e30, -1e30, 1e30, -inf, 5, -inf}});
  EXPECT_EQ(got, (Values{0.5, 0, 0.5, 0, 1, 0}));
}

TEST_F(SoftmaxTest, GradientMatchesDifferences) {
  for (int64_t n : {1, 5, 16, 37}) {
    const Values x = RandomValues(3 * n, n, -2, 2), dy = RandomValues(3 * n, n + 1);
    const Values y = ReferenceSoftmax(x, n);
    for (int threads : {1, 2}) {
      const Values got = Run("softmax_grad", {3, n}, threads, {dy, y});
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(got[i], Difference(x, dy, n, i), 1e-9 + kEpsilon * (n + 4) * y[i]) << n << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace weft
