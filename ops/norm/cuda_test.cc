#include <cmath>

#include "gtest/gtest.h"
#include "ops/families.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace weft {
namespace {

using weft::testing::ExpectTwins;
using weft::testing::RandomValues;
using weft::testing::Registered;
using weft::testing::RunGpuKernel;
using weft::testing::Values;

const KernelRegistry& Cpu() { return Registered<&RegisterNormKernels>(); }
const KernelRegistry& Cuda() { return Registered<&RegisterNormCudaKernels>(); }

// Packs that are not whole; a warp a row, partly and fully used, of 16 and 32 elements a thread; several warps a
// row; rows too long to hold.
const int64_t kWidths[] = {1, 3, 33, 1031, 64, 512, 772, 1600, 4100, 8192, 8200};

// Not a multiple of what a block does; several blocks.
int64_t RowsFor(int64_t width) { return width <= 1024 ? 37 : width <= 4096 ? 5 : 2; }

class NormCudaTest : public ::testing::TestWithParam<bool> {
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

TEST_P(NormCudaTest, AgreesWithItsTwin) {
  for (int64_t width : kWidths) {
    const int64_t rows = RowsFor(width);
    // Sums of `width` numbers up to 7 in another order, relative to an rstd of about 1/2; one number has an
    // rstd of up to 1 / sqrt(eps).
    const double error = (std::log2(width) + 16) * 0x1.0p-23 * 7 * (width < 8 ? 320 : 2);
    for (bool statistics : {false, true}) {
      ExpectTwins(Cpu(), Cuda(), Forward(rows, width, statistics), ForwardInputs(rows, width),
                  {.relative = error, .absolute = error});
    }
    ExpectTwins(Cpu(), Cuda(), Forward(rows, width, true), ForwardInputs(rows, width),
                {.relative = error, .absolute = error}, {}, {{0, 0}});
  }
}

TEST_P(NormCudaTest, GradientAgreesWithItsTwin) {
  for (int64_t width : kWidths) {
    for (int64_t rows : {RowsFor(width), int64_t{1}}) {
      // |g n| <= 6, of which `width` make a mean and `rows` a sum.
      const double error = (std::log2(width) + static_cast<double>(rows) + 16) * 6 * 0x1.0p-23;
      const testing::Bound bound{.relative = error, .absolute = error};
      ExpectTwins(Cpu(), Cuda(), Grad(rows, width), GradInputs(rows, width), bound);
      ExpectTwins(Cpu(), Cuda(), Grad(rows, width), GradInputs(rows, width), bound, {}, {{0, 0}});
      ExpectTwins(Cpu(), Cuda(), Grad(rows, width), GradInputs(rows, width), bound, {}, {{1, 0}});
    }
  }
}

TEST_P(NormCudaTest, ManyRowsAreSummedInTwoStages) {
  const int64_t rows = 9000, width = 5;  // more than all blocks do at once
  const double error = rows * 6 * 0x1.0p-23;
  ExpectTwins(Cpu(), Cuda(), Grad(rows, width), GradInputs(rows, width), {.relative = 1e-5, .absolute = error});
}

TEST_P(NormCudaTest, NoRowsGiveNoGradient) {
  ExpectTwins(Cpu(), Cuda(), Forward(0, 8, true), ForwardInputs(0, 8));
  ExpectTwins(Cpu(), Cuda(), Grad(0, 8), GradInputs(0, 8));
}

// The same numbers in f32, rounded; weights of either type.
TEST_P(NormCudaTest, HalvesAreFloatsRounded) {
  for (int64_t width : {7, 520, 1600, 8200}) {
    const int64_t rows = 3;
    for (DType type : {DType::kBF16, DType::kF16}) {
      for (DType weights : {DType::kF32, type}) {
        const double unit = type == DType::kBF16 ? 0x1.0p-8 : 0x1.0p-11;
        auto compare = [&](const KernelSpec& wide, const KernelSpec& half, const std::vector<Values>& inputs) {
          const auto want = RunGpuKernel(Cuda(), wide, inputs), got = RunGpuKernel(Cuda(), half, inputs);
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

TEST_P(NormCudaTest, RefusesWhatDoesNotFit) {
  KernelSpec spec = Forward(4, 8, true);
  spec.inputs[1] = TensorSpec::Whole(DType::kF32, {9});
  const auto wrong_shape = RunGpuKernel(Cuda(), spec, ForwardInputs(4, 8));
  EXPECT_EQ(wrong_shape.status().code(), absl::StatusCode::kInvalidArgument);
  const auto wrong_type = RunGpuKernel(Cuda(), Forward(4, 8, true, DType::kBF16, DType::kF16), ForwardInputs(4, 8));
  EXPECT_EQ(wrong_type.status().code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Both, NormCudaTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "layer_norm" : "rms_norm"; });

}  // namespace
}  // namespace weft
