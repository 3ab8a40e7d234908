// What is generated of activations, on the host and on a GPU, beside their formulas.
#include "tests/support/generated.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using testing::ExpectTwins;
using testing::RandomValues;
using testing::Registered;
using testing::RunKernel;
using testing::Values;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
constexpr double kPi = 3.14159265358979323846;

const KernelRegistry& Generated() { return Registered<&testing::RegisterGeneratedKernels>(); }

double Relu(double x) { return x > 0 ? x : 0; }
double Silu(double x) { return x / (1 + std::exp(-x)); }
double GeluTanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x))); }
double GeluErf(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

struct Case {
  const char* name;
  const char* approximate;  // null: no such attribute
  double (*value)(double);
};

const Case kCases[] = {
    {"relu", nullptr, Relu}, {"silu", nullptr, Silu}, {"gelu", "tanh", GeluTanh}, {"gelu", "none", GeluErf}};

class ActivationTest : public ::testing::TestWithParam<Case> {
 protected:
  static KernelSpec SpecOf(const std::string& suffix, int64_t n, int threads, DType type = DType::kF32) {
    const TensorSpec tensor = TensorSpec::Whole(type, {n});
    KernelSpec spec{.name = GetParam().name + suffix, .inputs = {tensor}, .outputs = {tensor}, .threads = threads};
    if (!suffix.empty()) spec.inputs.push_back(tensor);
    if (GetParam().approximate) spec.attributes.Set("approximate", std::string(GetParam().approximate));
    return spec;
  }
};

TEST_P(ActivationTest, MatchesTheFormula) {
  for (int64_t n : {1, 7, 8, 1031, 40000}) {
    for (int threads : {1, 2}) {
      Values x = RandomValues(n, n, -12, 12);
      if (n > 3) x[0] = 0, x[1] = -300, x[2] = 300, x[3] = 1e-30;
      auto got = RunKernel(Generated(), SpecOf("", n, threads), {x});
      ASSERT_TRUE(got.ok()) << got.status().message();
      // The formulas take at most ten roundings; 1 + erf and the like cancel, so x bounds the error.
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_NEAR((*got)[0][i], GetParam().value(x[i]), 10 * kEpsilon * std::fabs(x[i])) << x[i];
      }
    }
  }
}

TEST_P(ActivationTest, GradientMatchesDifferences) {
  constexpr double kStep = 1e-5;
  for (int64_t n : {1, 33, 20001}) {
    for (int threads : {1, 2}) {
      Values x = RandomValues(n, n, -12, 12);
      for (double& value : x) value = std::fabs(value) < 1e-3 ? 1e-3 : value;  // away from relu's kink
      const Values dy = RandomValues(n, n + 1);
      auto got = RunKernel(Generated(), SpecOf("_grad", n, threads), {dy, x});
      ASSERT_TRUE(got.ok()) << got.status().message();
      for (int64_t i = 0; i < n; ++i) {
        const double slope = (GetParam().value(x[i] + kStep) - GetParam().value(x[i] - kStep)) / (2 * kStep);
        ASSERT_NEAR((*got)[0][i], dy[i] * slope, 1e-8 + 20 * kEpsilon * std::fabs(dy[i])) << x[i];
      }
    }
  }
}

TEST_P(ActivationTest, WorksInPlace) {
  const Values x = RandomValues(1000, 5, -3, 3);
  auto apart = RunKernel(Generated(), SpecOf("", 1000, 1), {x});
  auto in_place = RunKernel(Generated(), SpecOf("", 1000, 1), {x}, {}, {{0, 0}});
  ASSERT_TRUE(apart.ok() && in_place.ok());
  EXPECT_EQ(*apart, *in_place);
}

TEST_P(ActivationTest, PropagatesNaN) {
  for (const char* suffix : {"", "_grad"}) {
    std::vector<Values> inputs = {{std::nan("")}};
    if (*suffix != 0) inputs.insert(inputs.begin(), Values{1});
    auto got = RunKernel(Generated(), SpecOf(suffix, 1, 1), inputs);
    ASSERT_TRUE(got.ok());
    EXPECT_TRUE(std::isnan((*got)[0][0])) << suffix;
  }
}

TEST_P(ActivationTest, HasTheHostsBitsOnAGpu) {
  for (int64_t n : {1, 7, 2051}) {
    for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
      const Values x = RandomValues(n, 1, -6, 6, type), dy = RandomValues(n, 2, -1, 1, type);
      ExpectTwins(Generated(), Generated(), SpecOf("", n, 1, type), {x});
      ExpectTwins(Generated(), Generated(), SpecOf("_grad", n, 1, type), {dy, x});
      ExpectTwins(Generated(), Generated(), SpecOf("_grad", n, 1, type), {dy, x}, {}, {}, {{1, 0}});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ActivationTest, ::testing::ValuesIn(kCases), [](const auto& info) {
  return std::string(info.param.name) + (info.param.approximate ? std::string("_") + info.param.approximate : "");
});

}  // namespace
}  // namespace weft
