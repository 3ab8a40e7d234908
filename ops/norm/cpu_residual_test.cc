#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ops/abi/philox.h"
#include "ops/families.h"
#include "tests/support/kernel_testing.h"

namespace weft {
namespace {

using testing::RandomValues;
using testing::RunKernel;
using testing::Values;

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterNormKernels(*made);
    return made;
  }();
  return *registry;
}

constexpr int64_t kRows = 9, kWidth = 37;
constexpr double kRate = 0.25;
const RunContext kContext{.step = 3, .micro_batch = 2, .seed = 99};

const TensorSpec kRow = TensorSpec::Whole(DType::kF32, {kRows, kWidth}),
                 kWeight = TensorSpec::Whole(DType::kF32, {kWidth}),
                 kStatistic = TensorSpec::Whole(DType::kF32, {kRows});

// What dropout makes of an element.
double Dropped(double x, int64_t element) {
  const uint32_t word = PhiloxElement(MixSeed(99, 5), 3, static_cast<uint64_t>(2 * kRows * kWidth + element));
  return UniformFloat(word) >= kRate ? static_cast<float>(x) * static_cast<float>(1 / (1 - kRate)) : 0;
}

class ResidualNormTest : public ::testing::TestWithParam<bool> {
 protected:
  bool center() const { return GetParam(); }
  std::string name() const { return center() ? "layer_norm" : "rms_norm"; }
  size_t statistics() const { return center() ? 2 : 1; }

  std::vector<Values> Run(const KernelSpec& spec, const std::vector<Values>& inputs,
                          const std::vector<std::pair<int, int>>& in_place = {}) const {
    auto got = RunKernel(Registry(), spec, inputs, kContext, in_place);
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? *got : std::vector<Values>(5, Values(kRows * kWidth));
  }
  KernelSpec Norm() const {
    KernelSpec spec{.name = name(), .inputs = {kRow, kWeight}, .outputs = {kRow}, .attributes = {{"eps", 1e-5}}};
    if (center()) spec.inputs.push_back(kWeight);
    spec.outputs.insert(spec.outputs.end(), statistics(), kStatistic);
    return spec;
  }
  KernelSpec Grad() const {
    KernelSpec spec{.name = name() + "_grad", .inputs = {kRow, kRow, kWeight}, .outputs = {kRow, kWeight}};
    spec.inputs.insert(spec.inputs.end(), statistics(), kStatistic);
    if (center()) spec.outputs.push_back(kWeight);
    return spec;
  }
  const Values x_ = RandomValues(kRows * kWidth, 1), y_ = RandomValues(kRows * kWidth, 2), w_ = RandomValues(kWidth, 3),
               b_ = RandomValues(kWidth, 4), mean_ = RandomValues(kRows, 5), rstd_ = RandomValues(kRows, 6, 0.5, 1);
};

// The sum, and bit by bit the norm of it; also where the sum takes the place of what was added.
TEST_P(ResidualNormTest, AddsBeforeTheNorm) {
  for (const bool dropout : {false, true}) {
    for (const bool in_place : {false, true}) {
      KernelSpec spec = Norm();
      spec.name = "residual_" + spec.name;
      spec.inputs.insert(spec.inputs.begin(), kRow);
      spec.outputs.insert(spec.outputs.begin(), kRow);
      if (dropout) spec.attributes.Set("rate", kRate);
      if (dropout) spec.attributes.Set("seed", int64_t{5});
      std::vector<Values> inputs = {x_, y_, w_};
      if (center()) inputs.push_back(b_);
      std::vector<std::pair<int, int>> pairs;
      if (in_place) pairs.push_back({1, 0});
      const auto got = Run(spec, inputs, pairs);
      for (int64_t i = 0; i < kRows * kWidth; ++i) {
        EXPECT_EQ(got[0][i], static_cast<float>(x_[i]) + static_cast<float>(dropout ? Dropped(y_[i], i) : y_[i]));
      }
      inputs.erase(inputs.begin());
      inputs[0] = got[0];
      const auto alone = Run(Norm(), inputs);
      EXPECT_EQ(std::vector<Values>(got.begin() + 1, got.end()), alone);
    }
  }
}

TEST_P(ResidualNormTest, AddsBehindTheGradient) {
  std::vector<Values> inputs = {y_, x_, w_};
  if (center()) inputs.push_back(mean_);
  inputs.push_back(rstd_);
  const auto alone = Run(Grad(), inputs);
  const Values past = RandomValues(kRows * kWidth, 7);
  for (const bool residual : {false, true}) {
    for (const bool dropout : {false, true}) {
      KernelSpec spec = Grad();
      spec.name = "residual_" + spec.name;
      auto operands = inputs;
      if (residual) spec.inputs.push_back(kRow);
      if (residual) operands.push_back(past);
      if (dropout) spec.outputs.push_back(kRow);
      if (dropout) spec.attributes = {{"rate", kRate}, {"seed", int64_t{5}}};
      const auto got = Run(spec, operands, {{0, 0}});
      for (int64_t i = 0; i < kRows * kWidth; ++i) {
        const float sum = static_cast<float>(alone[0][i]) + (residual ? static_cast<float>(past[i]) : 0.0f);
        EXPECT_EQ(got[0][i], sum);
        if (dropout) EXPECT_EQ(got.back()[i], Dropped(sum, i));
      }
      for (size_t o = 1; o < alone.size(); ++o) EXPECT_EQ(got[o], alone[o]);
    }
  }
}

TEST_P(ResidualNormTest, RefusesWrongOperands) {
  KernelSpec spec = Norm();
  spec.name = "residual_" + spec.name;
  EXPECT_EQ(Registry().Create(spec).status().code(), absl::StatusCode::kInvalidArgument);
  spec = Grad();
  spec.name = "residual_" + spec.name;
  spec.attributes = {{"rate", kRate}, {"seed", int64_t{5}}};
  EXPECT_EQ(Registry().Create(spec).status().code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Both, ResidualNormTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "layer_norm" : "rms_norm"; });

}  // namespace
}  // namespace weft
