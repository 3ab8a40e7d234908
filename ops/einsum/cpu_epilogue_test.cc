#include <cmath>
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

const KernelRegistry& Registry() {
  static const KernelRegistry* registry = [] {
    auto* made = new KernelRegistry;
    RegisterEinsumKernels(*made);
    return made;
  }();
  return *registry;
}

constexpr int64_t kRows = 35, kInner = 17, kColumns = 70;

TensorSpec Whole(Dims dims) { return TensorSpec::Whole(DType::kF32, std::move(dims)); }

// y[s, c] = sum over i of x[s, i] w[i, c], with s in two dims.
KernelSpec Spec(const std::string& epilogue) {
  KernelSpec spec{.name = "einsum",
                  .inputs = {Whole({5, 7, kInner}), Whole({kInner, kColumns})},
                  .outputs = {Whole({5, 7, kColumns})}};
  spec.attributes = {{"equation", std::string("bsi,ic->bsc")}, {"epilogue", epilogue}};
  return spec;
}

double Gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

class EinsumEpilogueTest : public ::testing::Test {
 protected:
  const Values x_ = RandomValues(kRows * kInner, 1), w_ = RandomValues(kInner * kColumns, 2),
               bias_ = RandomValues(kColumns, 3), at_ = RandomValues(kRows * kColumns, 4, -3, 3);

  Values Run(const KernelSpec& spec, const std::vector<Values>& inputs, size_t output) const {
    auto got = RunKernel(Registry(), spec, inputs);
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? (*got)[output] : Values(at_.size());
  }
  // Of the product alone.
  Values Product() const {
    KernelSpec spec = Spec("");
    spec.attributes = {{"equation", std::string("bsi,ic->bsc")}};
    return Run(spec, {x_, w_}, 0);
  }
};

TEST_F(EinsumEpilogueTest, AddsATensorLikeTheResult) {
  KernelSpec spec = Spec("add");
  spec.inputs.push_back(spec.outputs[0]);
  const Values y = Run(spec, {x_, w_, at_}, 0), product = Product();
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y[i], static_cast<float>(product[i]) + static_cast<float>(at_[i]));
  }
}

TEST_F(EinsumEpilogueTest, AddsABias) {
  KernelSpec spec = Spec("bias");
  spec.inputs.push_back(Whole({kColumns}));
  const Values y = Run(spec, {x_, w_, bias_}, 0), product = Product();
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y[i], static_cast<float>(product[i]) + static_cast<float>(bias_[i % kColumns]));
  }
}

TEST_F(EinsumEpilogueTest, TakesGeluAndKeepsWhatItIsAppliedTo) {
  const Values product = Product();
  for (const bool bias : {false, true}) {
    for (const bool keep : {false, true}) {
      KernelSpec spec = Spec(std::string(bias ? "bias gelu" : "gelu") + (keep ? " keep" : ""));
      std::vector<Values> inputs = {x_, w_};
      if (bias) spec.inputs.push_back(Whole({kColumns}));
      if (bias) inputs.push_back(bias_);
      if (keep) spec.outputs.push_back(spec.outputs[0]);
      const Values y = Run(spec, inputs, 0), kept = keep ? Run(spec, inputs, 1) : product;
      for (size_t i = 0; i < y.size(); ++i) {
        const double before = product[i] + (bias ? bias_[i % kColumns] : 0);
        EXPECT_NEAR(y[i], Gelu(before), 1e-5);
        if (keep) EXPECT_NEAR(kept[i], before, 1e-6);
      }
    }
  }
}

TEST_F(EinsumEpilogueTest, SumsAnOperand) {
  for (const bool left : {false, true}) {
    KernelSpec spec = Spec(left ? "sum_lhs" : "sum_rhs");
    const std::string equation = left ? "bsc,bsi->ic" : "bsi,bsc->ic";
    spec.attributes.Set("equation", equation);
    spec.inputs = {Whole({5, 7, left ? kColumns : kInner}), Whole({5, 7, left ? kInner : kColumns})};
    spec.outputs = {Whole({kInner, kColumns}), Whole({kColumns})};
    const Values sums = Run(spec, left ? std::vector<Values>{at_, x_} : std::vector<Values>{x_, at_}, 1);
    Values expected(kColumns);
    for (size_t i = 0; i < at_.size(); ++i) expected[i % kColumns] += at_[i];
    for (int64_t c = 0; c < kColumns; ++c) EXPECT_NEAR(sums[c], expected[c], std::fabs(expected[c]) * 0x1.0p-23);
  }
}

TEST_F(EinsumEpilogueTest, RefusesWhatDoesNotFit) {
  const auto message = [](const KernelSpec& spec) {
    const auto kernel = Registry().Create(spec);
    EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(kernel.status().message());
  };
  EXPECT_THAT(message(Spec("gelu bias")),
              HasSubstr("attribute `epilogue`: expected add, bias, gelu, sum_lhs or sum_rhs, got `gelu bias`"));
  EXPECT_THAT(message(Spec("bias")), HasSubstr("expected 3 inputs and 1 output"));
  KernelSpec spec = Spec("bias");
  spec.inputs.push_back(Whole({kColumns + 1}));
  EXPECT_THAT(message(spec), HasSubstr("epilogue: bias: expected f32 of last dims of f32[5,7,70], got f32[71]"));
  spec = Spec("gelu keep");
  spec.outputs.push_back(TensorSpec::Whole(DType::kBF16, {5, 7, kColumns}));
  EXPECT_THAT(message(spec), HasSubstr("epilogue: gelu's operand: expected f32 of the dims of f32[5,7,70], got bf16["));
}

}  // namespace
}  // namespace weft
