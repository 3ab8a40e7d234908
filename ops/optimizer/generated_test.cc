// What is generated of updates, on the host and on a GPU, beside plain loops in double.
#include "tests/support/generated.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using testing::Bound;
using testing::ExpectTwins;
using testing::RandomValues;
using testing::Registered;
using testing::RunGpuKernel;
using testing::RunKernel;
using testing::Values;
using Dims = std::vector<int64_t>;

const KernelRegistry& Generated() { return Registered<&testing::RegisterGeneratedKernels>(); }

constexpr double kUnit = 0x1.0p-24;
constexpr double kLr = 0.125, kScale = 0.5;  // exact
constexpr double kDecay = 0.1, kMomentum = 0.9, kBeta1 = 0.9, kBeta2 = 0.95, kEps = 1e-8;

// An update, with the step as its last input.
struct Update {
  std::string name;
  int state = 0;
  bool decoupled = false;

  KernelSpec Spec(const Dims& dims, DType gradient = DType::kF32, int threads = 1) const {
    const TensorSpec p = TensorSpec::Whole(DType::kF32, dims), scalar = TensorSpec::Whole(DType::kF32, {});
    KernelSpec spec{.name = name, .inputs = {p, TensorSpec::Whole(gradient, dims)}, .outputs = {p}};
    for (int k = 0; k < state; ++k) {
      spec.inputs.push_back(p);
      spec.outputs.push_back(p);
    }
    spec.inputs.insert(spec.inputs.end(), 3, scalar);
    spec.threads = threads;
    spec.attributes = Attributes({{"weight_decay", kDecay},
                                  {"momentum", kMomentum},
                                  {"beta1", kBeta1},
                                  {"beta2", kBeta2},
                                  {"eps", kEps},
                                  {"decoupled", int64_t{decoupled}}});
    return spec;
  }

  // Of p, g, state..., lr, scale and step.
  std::vector<Values> Inputs(size_t n, double step, DType gradient = DType::kF32) const {
    std::vector<Values> inputs = {RandomValues(n, 1), RandomValues(n, 2, -1, 1, gradient)};
    if (state > 0) inputs.push_back(RandomValues(n, 3));
    if (state > 1) inputs.push_back(RandomValues(n, 4, 0, 1));
    inputs.insert(inputs.end(), {{kLr}, {kScale}, {step}});
    return inputs;
  }

  // (old, new) of what may be overwritten.
  std::vector<std::pair<int, int>> InPlace() const {
    std::vector<std::pair<int, int>> places = {{0, 0}};
    for (int k = 0; k < state; ++k) places.push_back({2 + k, 1 + k});
    return places;
  }

  // The formulas of the reference, in double: what Run() is to give.
  std::vector<Values> Expected(const std::vector<Values>& inputs) const {
    std::vector<Values> next = {inputs[0]};
    for (int k = 0; k < state; ++k) next.push_back(inputs[2 + k]);
    const double t = inputs.back()[0];
    for (size_t i = 0; i < inputs[0].size(); ++i) {
      double &p = next[0][i], g = inputs[1][i] * kScale;
      if (name == "adam") {
        double &m = next[1][i], &v = next[2][i];
        if (!decoupled) g += kDecay * p;
        m = kBeta1 * m + (1 - kBeta1) * g;
        v = kBeta2 * v + (1 - kBeta2) * g * g;
        const double step = kLr * m / (1 - std::pow(kBeta1, t)) / (std::sqrt(v / (1 - std::pow(kBeta2, t))) + kEps);
        p -= (decoupled ? kLr * kDecay * p : 0) + step;
        continue;
      }
      g += kDecay * p;
      if (name == "sgd_momentum") g = next[1][i] = kMomentum * next[1][i] + g;
      p -= kLr * g;
    }
    return next;
  }
};

std::vector<Update> Updates() {
  return {{.name = "sgd"},
          {.name = "sgd_momentum", .state = 1},
          {.name = "adam", .state = 2},
          {.name = "adam", .state = 2, .decoupled = true}};
}

// Adam's step is lr m / sqrt(v) at most, here below 20 with |m| <= 1, v >= some 0.002: some fifteen roundings, of which
// those behind the division count for the step's size. Others have numbers below 2.
double BoundOf(const Update& update, const std::vector<Values>& inputs, const std::vector<Values>& expected, size_t o,
               size_t i) {
  const double change = std::abs(expected[0][i] - inputs[0][i]);
  return kUnit * (o == 0 && update.state == 2 ? 8 + 24 * change : 8);
}

TEST(UpdateTest, FollowsItsFormula) {
  for (const Update& update : Updates()) {
    for (const Dims& dims : {Dims{}, Dims{1}, Dims{7}, Dims{3, 5}, Dims{3, 67, 257}}) {
      for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
        for (double step : {1, 3, 1000}) {
          const std::vector<Values> inputs = update.Inputs(TensorSpec::Whole(DType::kF32, dims).elements(), step, type);
          const std::vector<Values> expected = update.Expected(inputs);
          for (int threads : {1, 2}) {
            for (const auto& in_place : {std::vector<std::pair<int, int>>{}, update.InPlace()}) {
              RunContext elsewhere;
              elsewhere.step = 40;  // the step that an update is given counts
              const auto got = RunKernel(Generated(), update.Spec(dims, type, threads), inputs, elsewhere, in_place);
              ASSERT_TRUE(got.ok()) << got.status();
              for (size_t o = 0; o < expected.size(); ++o) {
                for (size_t i = 0; i < expected[o].size(); ++i) {
                  ASSERT_NEAR((*got)[o][i], expected[o][i], BoundOf(update, inputs, expected, o, i))
                      << update.name << " output " << o << " at " << i << ", step " << step;
                }
              }
            }
          }
        }
      }
    }
  }
}

// 1 - beta^t from hyperbolic tangents is exact enough where beta is near 1 and t is small.
TEST(UpdateTest, AdamBeginsWithTheGradientsSign) {
  const Update adam{.name = "adam", .state = 2};
  KernelSpec spec = adam.Spec({3});
  spec.attributes.Set("weight_decay", 0.0);
  for (double beta2 : {0.95, 0.999, 0.999999}) {
    spec.attributes.Set("beta2", beta2);
    const auto got = RunKernel(Generated(), spec, {{1, 2, 3}, {0.5, -0.25, 2}, {0, 0, 0}, {0, 0, 0}, {kLr}, {1}, {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    const Values expected = {1 - kLr, 2 + kLr, 3 - kLr};
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR((*got)[0][i], expected[i], 8 * kUnit) << beta2;
  }
}

TEST(UpdateTest, AdamOfAZeroGradientStaysFinite) {
  KernelSpec spec = Update{.name = "adam", .state = 2}.Spec({3});
  spec.attributes.Set("weight_decay", 0.0);
  const auto got = RunKernel(Generated(), spec, {{1, 2, 3}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {kLr}, {1}, {1}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0], (Values{1, 2, 3}));
}

// With step 0 nothing changes, whatever the gradient is.
TEST(UpdateTest, ASkippedStepKeepsEverything) {
  for (const Update& update : Updates()) {
    for (int64_t n : {1, 201, 2050}) {
      std::vector<Values> inputs = update.Inputs(n, 0, DType::kF16);
      inputs[1].assign(inputs[1].size(), INFINITY);
      inputs[inputs.size() - 2] = {std::nan("")};  // the scale
      const KernelSpec spec = update.Spec({n}, DType::kF16);
      for (const auto& in_place : {std::vector<std::pair<int, int>>{}, update.InPlace()}) {
        const auto host = RunKernel(Generated(), spec, inputs, {}, in_place);
        const auto gpu = RunGpuKernel(Generated(), spec, inputs, {}, in_place);
        ASSERT_TRUE(host.ok() && gpu.ok()) << host.status() << gpu.status();
        for (auto [from, to] : update.InPlace()) {
          EXPECT_EQ((*host)[to], inputs[from]) << update.name;
          EXPECT_EQ((*gpu)[to], inputs[from]) << update.name;
        }
      }
    }
  }
}

TEST(UpdateTest, AgreesOnAGpu) {
  // Formulas of some ten roundings, that compilers may fuse in different ways.
  constexpr Bound kFormula{.relative = 0x1.0p-20, .absolute = 0x1.0p-22};
  for (const Update& update : Updates()) {
    for (int64_t n : {1, 7, 2050}) {
      for (DType type : {DType::kF32, DType::kBF16, DType::kF16}) {
        const KernelSpec spec = update.Spec({n}, type);
        ExpectTwins(Generated(), Generated(), spec, update.Inputs(n, 5, type), kFormula);
        ExpectTwins(Generated(), Generated(), spec, update.Inputs(n, 5, type), kFormula, {}, update.InPlace());
      }
    }
  }
}

}  // namespace
}  // namespace weft
