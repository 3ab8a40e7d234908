// What is generated of norms, on the host and on a GPU, beside plain loops.
#include "tests/support/generated.h"

#include <cmath>
#include <functional>
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
using testing::RunGpuKernel;
using testing::RunKernel;
using testing::Values;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
constexpr double kEps = 1e-5;  // the attribute

// The plain loops; with `center` a layer norm, else a root-mean-square norm (and b is empty).
struct Norm {
  bool center;
  int64_t width;

  void Row(const Values& x, const Values& w, const Values& b, int64_t row, double* mean, double* rstd,
           double* y) const {
    *mean = 0;
    double square = 0;
    for (int64_t i = 0; center && i < width; ++i) *mean += x[row * width + i] / width;
    for (int64_t i = 0; i < width; ++i) square += std::pow(x[row * width + i] - *mean, 2) / width;
    *rstd = 1 / std::sqrt(square + kEps);
    for (int64_t i = 0; i < width; ++i) {
      y[i] = (x[row * width + i] - *mean) * *rstd * w[i] + (center ? b[i] : 0);
    }
  }

  struct Result {
    Values y, mean, rstd;
  };
  Result Apply(const Values& x, const Values& w, const Values& b) const {
    Result result = {Values(x.size()), Values(x.size() / width), Values(x.size() / width)};
    for (size_t row = 0; row < result.mean.size(); ++row) {
      Row(x, w, b, row, &result.mean[row], &result.rstd[row], &result.y[row * width]);
    }
    return result;
  }

  // sum(dy * y) over the rows from `row` to `end`.
  double Loss(const Values& dy, const Values& x, const Values& w, const Values& b, size_t row, size_t end) const {
    double sum = 0, mean, rstd;
    Values y(width);
    for (; row < end; ++row) {
      Row(x, w, b, row, &mean, &rstd, y.data());
      for (int64_t i = 0; i < width; ++i) sum += dy[row * width + i] * y[i];
    }
    return sum;
  }
};

double Difference(double& variable, const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  const double at = variable;
  variable = at + kStep;
  const double above = loss();
  variable = at - kStep;
  const double below = loss();
  variable = at;
  return (above - below) / (2 * kStep);
}

const KernelRegistry& Generated() { return Registered<&testing::RegisterGeneratedKernels>(); }

class NormTest : public ::testing::TestWithParam<bool> {
 protected:
  bool center() const { return GetParam(); }
  std::string name() const { return center() ? "layer_norm" : "rms_norm"; }

  KernelSpec ForwardSpec(const std::vector<int64_t>& leading, int64_t width, bool statistics, int threads) const {
    std::vector<int64_t> dims = leading;
    dims.push_back(width);
    const TensorSpec x = TensorSpec::Whole(DType::kF32, dims), w = TensorSpec::Whole(DType::kF32, {width});
    const TensorSpec row = TensorSpec::Whole(DType::kF32, leading);
    KernelSpec spec;
    spec.name = name();
    spec.inputs = {x, w};
    if (center()) spec.inputs.push_back(w);
    spec.outputs = {x};
    if (statistics) spec.outputs.insert(spec.outputs.end(), center() ? 2 : 1, row);
    spec.attributes = {{"eps", kEps}};
    spec.threads = threads;
    return spec;
  }

  KernelSpec GradSpec(const std::vector<int64_t>& leading, int64_t width, int threads) const {
    const KernelSpec forward = ForwardSpec(leading, width, true, threads);
    const TensorSpec x = forward.inputs[0], w = forward.inputs[1];
    KernelSpec spec;
    spec.name = name() + "_grad";
    spec.inputs = {x, x, w};
    spec.inputs.insert(spec.inputs.end(), forward.outputs.begin() + 1, forward.outputs.end());
    spec.outputs = {x, w};
    if (center()) spec.outputs.push_back(w);
    spec.threads = threads;
    return spec;
  }

  std::vector<Values> ForwardInputs(const Values& x, const Values& w, const Values& b) const {
    return center() ? std::vector<Values>{x, w, b} : std::vector<Values>{x, w};
  }
};

TEST_P(NormTest, MatchesPlainLoops) {
  for (int64_t width : {1, 3, 16, 33, 768}) {
    for (int threads : {1, 2}) {
      const Values x = RandomValues(3 * 7 * width, width, -2, 5);
      const Values w = RandomValues(width, 2), b = RandomValues(width, 3);
      auto got = RunKernel(Generated(), ForwardSpec({3, 7}, width, true, threads), ForwardInputs(x, w, b));
      ASSERT_TRUE(got.ok()) << got.status().message();
      const Norm::Result want = Norm{center(), width}.Apply(x, w, b);
      // |x| <= 5, so a row's sums err by 5 width eps / width relative to x; rstd magnifies that.
      for (size_t i = 0; i < x.size(); ++i) {
        const double rstd = want.rstd[i / width], error = kEpsilon * (std::log2(width) + 16);
        ASSERT_NEAR((*got)[0][i], want.y[i], error * (1 + 5 * rstd)) << width << " " << i;
      }
      for (size_t row = 0; row < want.rstd.size(); ++row) {
        if (center()) ASSERT_NEAR((*got)[1][row], want.mean[row], 5 * kEpsilon * (std::log2(width) + 8));
        const double rstd = want.rstd[row];
        ASSERT_NEAR((*got).back()[row], rstd, rstd * kEpsilon * (std::log2(width) + 8) * (1 + 5 * rstd));
      }
    }
  }
}

TEST_P(NormTest, StatisticsAreOptional) {
  const Values x = RandomValues(5 * 24, 1), w = RandomValues(24, 2), b = RandomValues(24, 3);
  auto all = RunKernel(Generated(), ForwardSpec({5}, 24, true, 1), ForwardInputs(x, w, b));
  auto one = RunKernel(Generated(), ForwardSpec({5}, 24, false, 1), ForwardInputs(x, w, b));
  ASSERT_TRUE(all.ok() && one.ok());
  EXPECT_EQ((*all)[0], (*one)[0]);
}

TEST_P(NormTest, GradientMatchesDifferences) {
  for (int64_t width : {1, 3, 17, 40}) {
    for (size_t rows : {1, 5, 67}) {
      const Norm norm{center(), width};
      Values x = RandomValues(rows * width, width), w = RandomValues(width, 2), b = RandomValues(width, 3);
      const Values dy = RandomValues(rows * width, 4);
      const Norm::Result forward = norm.Apply(x, w, b);
      std::vector<Values> inputs = {dy, x, w};
      if (center()) inputs.push_back(forward.mean);
      inputs.push_back(forward.rstd);
      for (int threads : {1, 2}) {
        auto got = RunKernel(Generated(), GradSpec({static_cast<int64_t>(rows)}, width, threads), inputs);
        ASSERT_TRUE(got.ok()) << got.status().message();
        for (size_t i = 0; i < x.size(); ++i) {
          const size_t row = i / width;
          const double want = Difference(x[i], [&] { return norm.Loss(dy, x, w, b, row, row + 1); });
          const double rstd = forward.rstd[row];
          ASSERT_NEAR((*got)[0][i], want, 1e-7 * std::pow(1 + rstd, 3) + 20 * kEpsilon * rstd * rstd) << width;
        }
        for (int64_t i = 0; i < width; ++i) {
          const double bound = 1e-8 + kEpsilon * (rows + 8) * std::sqrt(width);
          const double dw = Difference(w[i], [&] { return norm.Loss(dy, x, w, b, 0, rows); });
          ASSERT_NEAR((*got)[1][i], dw, bound * rows);
          if (!center()) continue;
          const double db = Difference(b[i], [&] { return norm.Loss(dy, x, w, b, 0, rows); });
          ASSERT_NEAR((*got)[2][i], db, bound * rows);
        }
      }
    }
  }
}

TEST_P(NormTest, GradientDoesNotDependOnThreads) {
  const int64_t rows = 1000, width = 48;
  std::vector<Values> inputs = {RandomValues(rows * width, 1), RandomValues(rows * width, 2), RandomValues(width, 3)};
  if (center()) inputs.push_back(RandomValues(rows, 4));
  inputs.push_back(RandomValues(rows, 5, 0.5, 2));
  auto one = RunKernel(Generated(), GradSpec({rows}, width, 1), inputs);
  ASSERT_TRUE(one.ok());
  for (int threads : {2, 3, 7}) EXPECT_EQ(*RunKernel(Generated(), GradSpec({rows}, width, threads), inputs), *one);
}

INSTANTIATE_TEST_SUITE_P(Both, NormTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "layer_norm" : "rms_norm"; });

// Packs that are not whole; a warp a row, partly and fully used, of 16 and 32 elements a thread; several warps a
// row; rows too long to hold.
const int64_t kWidths[] = {1, 3, 33, 1031, 64, 512, 772, 1600, 4100, 8192, 8200};

// Not a multiple of what a block does; several blocks.
int64_t RowsFor(int64_t width) { return width <= 1024 ? 37 : width <= 4096 ? 5 : 2; }

class NormOnAGpuTest : public ::testing::TestWithParam<bool> {
 protected:
  bool center() const { return GetParam(); }

  KernelSpec Forward(int64_t rows, int64_t width, bool statistics, DType type = DType::kF32,
                     DType weights = DType::kF32) const {
    const TensorSpec x = TensorSpec::Whole(type, {rows, width}), w = TensorSpec::Whole(weights, {width});
    KernelSpec spec{.name = center() ? "layer_norm" : "rms_norm", .inputs = {x, w}, .outputs = {x}};
    if (center()) spec.inputs.push_back(w);
    if (statistics) spec.outputs.insert(spec.outputs.end(), center() ? 2 : 1, TensorSpec::Whole(DType::kF32, {rows}));
    spec.attributes = {{"eps", 1e-5}};
    return spec;
  }

  KernelSpec Grad(int64_t rows, int64_t width, DType type = DType::kF32, DType weights = DType::kF32) const {
    const KernelSpec forward = Forward(rows, width, true, type, weights);
    const TensorSpec x = forward.inputs[0], w = forward.inputs[1];
    KernelSpec spec{.name = forward.name + "_grad", .inputs = {x, x, w}, .outputs = {x, w}};
    spec.inputs.insert(spec.inputs.end(), forward.outputs.begin() + 1, forward.outputs.end());
    if (center()) spec.outputs.push_back(w);
    return spec;
  }

  std::vector<Values> ForwardInputs(int64_t rows, int64_t width, DType type = DType::kF32) const {
    std::vector<Values> inputs = {RandomValues(rows * width, 1, -2, 5, type), RandomValues(width, 2, -1, 1, type)};
    if (center()) inputs.push_back(RandomValues(width, 3, -1, 1, type));
    return inputs;
  }
  // With statistics of the size that they have.
  std::vector<Values> GradInputs(int64_t rows, int64_t width, DType type = DType::kF32) const {
    std::vector<Values> inputs = {RandomValues(rows * width, 1, -1, 1, type),
                                  RandomValues(rows * width, 2, -2, 5, type), RandomValues(width, 3, -1, 1, type)};
    if (center()) inputs.push_back(RandomValues(rows, 4, 1, 2));
    inputs.push_back(RandomValues(rows, 5, 0.25, 1));
    return inputs;
  }
};

TEST_P(NormOnAGpuTest, AgreesWithTheHost) {
  for (int64_t width : kWidths) {
    const int64_t rows = RowsFor(width);
    // Sums of `width` numbers up to 7 in another order, relative to an rstd of about 1/2; one number has an
    // rstd of up to 1 / sqrt(eps).
    const double error = (std::log2(width) + 16) * 0x1.0p-23 * 7 * (width < 8 ? 320 : 2);
    for (bool statistics : {false, true}) {
      ExpectTwins(Generated(), Generated(), Forward(rows, width, statistics), ForwardInputs(rows, width),
                  {.relative = error, .absolute = error});
    }
    ExpectTwins(Generated(), Generated(), Forward(rows, width, true), ForwardInputs(rows, width),
                {.relative = error, .absolute = error}, {}, {{0, 0}});
  }
}

TEST_P(NormOnAGpuTest, GradientAgreesWithTheHost) {
  for (int64_t width : kWidths) {
    for (int64_t rows : {RowsFor(width), int64_t{1}}) {
      // |g n| <= 6, of which `width` make a mean and `rows` a sum.
      const double error = (std::log2(width) + static_cast<double>(rows) + 16) * 6 * 0x1.0p-23;
      const testing::Bound bound{.relative = error, .absolute = error};
      ExpectTwins(Generated(), Generated(), Grad(rows, width), GradInputs(rows, width), bound);
      ExpectTwins(Generated(), Generated(), Grad(rows, width), GradInputs(rows, width), bound, {}, {{0, 0}});
      ExpectTwins(Generated(), Generated(), Grad(rows, width), GradInputs(rows, width), bound, {}, {{1, 0}});
    }
  }
}

TEST_P(NormOnAGpuTest, ManyRowsAreSummedInTwoStages) {
  const int64_t rows = 9000, width = 5;  // more than all blocks do at once
  const double error = rows * 6 * 0x1.0p-23;
  ExpectTwins(Generated(), Generated(), Grad(rows, width), GradInputs(rows, width),
              {.relative = 1e-5, .absolute = error});
}

// The same numbers in f32, rounded; weights of either type.
TEST_P(NormOnAGpuTest, HalvesAreFloatsRounded) {
  for (int64_t width : {7, 520, 1600, 8200}) {
    const int64_t rows = 3;
    for (DType type : {DType::kBF16, DType::kF16}) {
      for (DType weights : {DType::kF32, type}) {
        const double unit = type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
        auto compare = [&](const KernelSpec& wide, const KernelSpec& half, const std::vector<Values>& inputs) {
          const auto want = RunGpuKernel(Generated(), wide, inputs), got = RunGpuKernel(Generated(), half, inputs);
          ASSERT_TRUE(want.ok() && got.ok()) << got.status();
          for (size_t o = 0; o < want->size(); ++o) {
            for (size_t i = 0; i < (*want)[o].size(); ++i) {
              const double value = (*want)[o][i];
              ASSERT_NEAR((*got)[o][i], value, unit * std::fabs(value) + 1e-4) << half.name << " " << o << " " << i;
            }
          }
        };
        // Exact in bf16 and f16.
        std::vector<Values> forward = ForwardInputs(rows, width, DType::kBF16);
        std::vector<Values> backward = GradInputs(rows, width, DType::kBF16);
        for (std::vector<Values>* inputs : {&forward, &backward}) {
          for (Values& values : *inputs) {
            for (double& value : values) value = std::ldexp(std::round(std::ldexp(value, 5)), -5);
          }
        }
        compare(Forward(rows, width, true), Forward(rows, width, true, type, weights), forward);
        compare(Grad(rows, width), Grad(rows, width, type, weights), backward);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, NormOnAGpuTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "layer_norm" : "rms_norm"; });

}  // namespace
}  // namespace weft
