// What is generated of softmax, on the host and on a GPU, beside plain loops.
#include "tests/support/generated.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using testing::ExpectTwins;
using testing::RandomValues;
using testing::Registered;
using testing::RunGpuKernel;
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

const KernelRegistry& Generated() { return Registered<&testing::RegisterGeneratedKernels>(); }

KernelSpec Spec(const char* name, std::vector<int64_t> dims, int threads = 1, DType type = DType::kF32) {
  const TensorSpec tensor = TensorSpec::Whole(type, std::move(dims));
  KernelSpec spec{.name = name, .inputs = {tensor}, .outputs = {tensor}, .threads = threads};
  if (spec.name == "softmax_grad") spec.inputs.push_back(tensor);
  return spec;
}

Values ResultOf(const KernelSpec& spec, const std::vector<Values>& inputs) {
  auto got = RunKernel(Generated(), spec, inputs);
  EXPECT_TRUE(got.ok()) << got.status().message();
  return got.ok() ? (*got)[0] : Values(inputs[0].size());
}

TEST(SoftmaxTest, MatchesPlainLoops) {
  for (int64_t n : {1, 2, 15, 16, 17, 100, 1000}) {
    for (int threads : {1, 2}) {
      const Values x = RandomValues(3 * 29 * n, n, -20, 20);
      const Values got = ResultOf(Spec("softmax", {3, 29, n}, threads), {x});
      const Values want = ReferenceSoftmax(x, n);
      // The subtraction rounds at 40; the exponential and the sum add their own.
      for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(got[i], want[i], kEpsilon * (40.0 + n + 4) * want[i] + 1e-37);
    }
  }
}

TEST(SoftmaxTest, LargeAndMaskedLogits) {
  const double inf = std::numeric_limits<double>::infinity();
  const Values got = ResultOf(Spec("softmax", {2, 3}), {{1e30, -1e30, 1e30, -inf, 5, -inf}});
  EXPECT_EQ(got, (Values{0.5, 0, 0.5, 0, 1, 0}));
}

TEST(SoftmaxTest, GradientMatchesDifferences) {
  for (int64_t n : {1, 5, 16, 37}) {
    const Values x = RandomValues(3 * n, n, -2, 2), dy = RandomValues(3 * n, n + 1);
    const Values y = ReferenceSoftmax(x, n);
    for (int threads : {1, 2}) {
      const Values got = ResultOf(Spec("softmax_grad", {3, n}, threads), {dy, y});
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(got[i], Difference(x, dy, n, i), 1e-9 + kEpsilon * (n + 4) * y[i]) << n << " " << i;
      }
    }
  }
}

// Sums of numbers below 1 in another order: an error of n 2^-24 at most.
testing::Bound BoundFor(int64_t n) {
  const double unit = static_cast<double>(n + 16) * 0x1.0p-24;
  return {.relative = unit, .absolute = unit * 0x1.0p-6};
}

TEST(SoftmaxTest, AgreesWithTheHostOnAGpu) {
  for (int64_t n : {1, 3, 32, 257, 1031}) {
    for (int64_t rows : {1, 5, 70}) {
      const auto x = RandomValues(rows * n, 1, -20, 20), dy = RandomValues(rows * n, 2);
      ExpectTwins(Generated(), Generated(), Spec("softmax", {rows, n}), {x}, BoundFor(n));
      ExpectTwins(Generated(), Generated(), Spec("softmax", {rows, n}), {x}, BoundFor(n), {}, {{0, 0}});
      ExpectTwins(Generated(), Generated(), Spec("softmax_grad", {rows, n}), {dy, x}, {.absolute = n * 20 * 0x1.0p-20});
      ExpectTwins(Generated(), Generated(), Spec("softmax_grad", {rows, n}), {dy, x}, {.absolute = n * 20 * 0x1.0p-20},
                  {}, {{1, 0}});
    }
  }
}

TEST(SoftmaxTest, HalvesAreFloatsRounded) {
  const auto x = RandomValues(3 * 65, 1, -4, 4, DType::kBF16);
  const auto wide = RunGpuKernel(Generated(), Spec("softmax", {3, 65}), {x});
  for (DType type : {DType::kBF16, DType::kF16}) {
    const auto half = RunGpuKernel(Generated(), Spec("softmax", {3, 65}, 1, type), {x});
    ASSERT_TRUE(wide.ok() && half.ok()) << half.status();
    const double unit = type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR((*half)[0][i], (*wide)[0][i], unit * (*wide)[0][i] + 0x1.0p-25);
  }
}

}  // namespace
}  // namespace weft
