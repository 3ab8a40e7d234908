// The gradient of every differentiable op, as the compiler builds it, against differences of the op itself.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "tests/sharding/gradient_graph.h"
#include "tests/sharding/kernel_call.h"
#include "tests/sharding/op_case.h"
#include "tests/sharding/parsed_op.h"
#include "tests/support/generated.h"

namespace weft::tests {
namespace {

constexpr double kStep = 0x1p-4;
constexpr double kRoundoff = 0x1p-24;

struct GradientCase {
  OpCase op;            // two steps away from its kinks
  double fifth = 100;   // bound of the fifth derivatives of the loss
  double rounding = 0;  // of the gradient, where it passes through a narrower type

  friend void PrintTo(const GradientCase& one, std::ostream* os) { PrintTo(one.op, os); }
};

std::vector<GradientCase> GradientCases() {
  std::vector<GradientCase> cases;
  auto add = [&](const char* name, const char* text, std::vector<Input> inputs, double fifth = 100) {
    cases.push_back({OpCase(name, text, std::move(inputs)), fifth});
  };
  for (const char* op : {"neg", "exp", "tanh", "sigmoid", "square", "silu", "gelu", "sin", "cos"}) {
    cases.push_back({OpCase(op, std::string("weft.") + op + " %a", {{"3x5xf32", Uniform(-2, 2)}})});
  }
  for (const char* op : {"log", "sqrt", "rsqrt"}) {
    cases.push_back({OpCase(op, std::string("weft.") + op + " %a", {{"3x5xf32", Uniform(1, 2)}})});
  }
  add("relu", "weft.relu %a", {{"3x5xf32", Away()}});
  add("gelu_tanh", "weft.gelu %a approximate(tanh)", {{"3x5xf32", Uniform(-2, 2)}});
  const std::pair<const char*, std::pair<const char*, const char*>> shapes[] = {
      {"same", {"3x5xf32", "3x5xf32"}},
      {"row", {"2x3x5xf32", "5xf32"}},
      {"outer", {"3x1xf32", "5xf32"}},
      {"scalar", {"f32", "3x5xf32"}},
  };
  for (const char* op : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    for (const auto& [name, types] : shapes) {
      const bool kink = op[0] == 'm' && op[1] != 'u';
      cases.push_back(
          {OpCase(std::string(op) + "_" + name, std::string("weft.") + op + " %a, %b",
                  {{types.first, kink ? Distinct(0) : Fill()}, {types.second, kink ? Distinct(0.25) : Uniform(1, 2)}}),
           /*fifth=*/2000});
    }
  }
  add("scale", "weft.scale %a by(-0.3)", {{"3x5xf32"}});
  add("abs", "weft.abs %a", {{"3x5xf32", Away()}});
  add("add_number", "weft.add_scalar %a by(0.3)", {{"3x5xf32"}});
  add("power", "weft.power %a by(1.7)", {{"3x5xf32", Uniform(1, 2)}});
  add("power_whole", "weft.power %a by(3)", {{"3x5xf32", Uniform(-1, 1)}});
  add("power_inverse", "weft.power %a by(-2)", {{"3x5xf32", Uniform(1, 2)}}, 1500);
  // Elements are 1/2 apart, at least 1/4 from the ends.
  add("clamp", "weft.clamp %a min(-1.25) max(0.75)", {{"3x5xf32", Distinct(0)}});
  add("clamp_above", "weft.clamp %a min(0.25)", {{"3x5xf32", Distinct(0)}});
  add("select", "weft.select %a, %b, %c", {{"3x5xi8", Integers(2)}, {"3x5xf32"}, {"3x5xf32"}});
  add("select_broadcast", "weft.select %a, %b, %c", {{"5xi8", Integers(2)}, {"2x3x1xf32"}, {"f32"}});
  add("cumsum", "weft.cumsum %a dim(1)", {{"2x5x3xf32"}});
  add("cumsum_exclusive", "weft.cumsum %a dim(2) exclusive", {{"2x3x5xf32"}});
  add("cumsum_reverse", "weft.cumsum %a dim(0) reverse", {{"5x3xf32"}});
  add("cumsum_both", "weft.cumsum %a dim(0) exclusive reverse", {{"5xf32"}});
  add("add_n", "weft.add_n %a, %b, %c", {{"3x5xf32"}, {"3x5xf32"}, {"3x5xf32"}});
  cases.push_back({OpCase("cast", "weft.cast %a to bf16", {{"3x5xf32", Eighths()}}), 0, 0x1p-8});
  add("broadcast_to", "weft.broadcast_to %a [4, 3, 5]", {{"3x1xf32"}});
  for (const char* kind : {"sum", "mean", "max"}) {
    for (const auto& [name, dims] : {std::pair("first", "[0]"), std::pair("two", "[2, 0]"),
                                     std::pair("all", "[0, 1, 2]"), std::pair("kept", "[1] keep_dims")}) {
      cases.push_back({OpCase(std::string("reduce_") + kind + "_" + name,
                              std::string("weft.reduce ") + kind + " %a over " + dims, {{"2x3x5xf32", Distinct(0)}})});
    }
  }
  add("reshape", "weft.reshape %a [5, 6]", {{"2x3x5xf32"}});
  add("transpose", "weft.transpose %a [1, 2, 0]", {{"2x3x5xf32"}});
  add("slice", "weft.slice %a dim(1) from(1) size(3)", {{"2x5x3xf32"}});
  add("pad", "weft.pad %a dim(1) before(2) after(1)", {{"2x5x3xf32"}});
  add("concat", "weft.concat %a, %b, %c dim(1)", {{"2x1x3xf32"}, {"2x4x3xf32"}, {"2x2x3xf32"}});
  add("einsum_linear", "weft.einsum \"bsi,io->bso\" %a, %b", {{"2x3x5xf32"}, {"5x4xf32"}});
  // Numbers and steps are exact in bfloat16; the gradient is rounded to it before and after its sums.
  cases.push_back({OpCase("einsum_bf16", "weft.einsum \"bsi,io->bso\" %a, %b to f32",
                          {{"2x3x5xbf16", Eighths()}, {"5x4xbf16", Eighths()}}),
                   0, 0x1p-5});
  add("einsum_scores", "weft.einsum \"bsnd,btnd->bnst\" %a, %b", {{"2x3x2x4xf32"}, {"2x5x2x4xf32"}});
  add("einsum_values", "weft.einsum \"bnst,btnd->bsnd\" %a, %b", {{"2x2x3x5xf32"}, {"2x5x2x4xf32"}});
  add("einsum_outer", "weft.einsum \"ij,kl->kjli\" %a, %b", {{"2x3xf32"}, {"3x2xf32"}});
  add("einsum_inner", "weft.einsum \"ij,ij->\" %a, %b", {{"3x5xf32"}, {"3x5xf32"}});
  add("softmax", "weft.softmax %a", {{"2x3x7xf32", Uniform(-2, 2)}});
  add("rope", "weft.rope %a theta(100.0) factor(2.0)", {{"2x3x2x4xf32"}});
  add("rope_at", "weft.rope %a at(%b) theta(100.0) interleaved", {{"2x3x2x4xf32"}, {"2x3xi32", Integers(9)}});
  add("layer_norm", "weft.layer_norm %a, %b, %c eps(1.0e-5)", {{"2x3x7xf32", Uniform(-2, 2)}, {"7xf32"}, {"7xf32"}},
      1000);
  add("rms_norm", "weft.rms_norm %a, %b eps(1.0e-6)", {{"2x3x7xf32", Uniform(-2, 2)}, {"7xf32"}}, 1000);
  const Input vector = {"3xf32"}, spread = {"3xf32", Uniform(1, 2)};
  add("batch_norm", "weft.batch_norm %a, %b, %c over [0] eps(1.0e-5)", {{"7x3xf32", Uniform(-2, 2)}, vector, vector},
      1000);
  add("batch_norm_images", "weft.batch_norm %a, %b, %c over [0, 2, 3] eps(1.0e-2)",
      {{"2x3x2x2xf32", Uniform(-2, 2)}, vector, vector}, 1000);
  add("batch_norm_parts", "weft.batch_norm %a, %b, %c over [1] eps(1.0e-5)",
      {{"2x7x3xf32", Uniform(-2, 2)}, vector, vector}, 1000);
  add("batch_norm_apply", "weft.batch_norm_apply %a, %b, %c, %d, %e over [0] eps(1.0e-5)",
      {{"4x3xf32"}, vector, spread, vector, vector}, 1000);
  add("batch_norm_apply_parts", "weft.batch_norm_apply %a, %b, %c, %d, %e over [1] eps(1.0e-5)",
      {{"2x4x3xf32"}, {"2x3xf32"}, {"2x3xf32", Uniform(1, 2)}, vector, vector}, 1000);
  for (const char* causal : {"", " causal"}) {
    const std::string text = std::string("weft.attention %a, %b, %c") + causal, suffix = *causal ? "_causal" : "";
    auto attention = [&](const char* name, const char* q, const char* kv, const char* scale) {
      cases.push_back({OpCase(std::string("attention_") + name + suffix, text + scale, {{q}, {kv}, {kv}})});
    };
    attention("heads", "2x3x2x5xf32", "2x3x2x5xf32", "");
    attention("grouped", "1x3x4x4xf32", "1x3x2x4xf32", " scale(0.7)");
    attention("one_key_head", "1x4x3x4xf32", "1x4x1x4xf32", "");
    attention("more_keys", "1x2x2x4xf32", "1x5x2x4xf32", "");
  }
  const Input seen = {"2x1x1x5xi8", Integers(3)};
  add("attention_window", "weft.attention %a, %b, %c causal window(2)",
      {{"1x4x2x4xf32"}, {"1x5x2x4xf32"}, {"1x5x2x4xf32"}});
  add("attention_bias", "weft.attention %a, %b, %c bias(%d)",
      {{"2x3x2x4xf32"}, {"2x5x2x4xf32"}, {"2x5x2x4xf32"}, {"1x2x3x5xf32"}});
  add("attention_mask", "weft.attention %a, %b, %c mask(%d)",
      {{"2x3x2x4xf32"}, {"2x5x2x4xf32"}, {"2x5x2x4xf32"}, seen});
  add("attention_bias_and_mask", "weft.attention %a, %b, %c bias(%d) mask(%e) causal scale(1.0)",
      {{"2x3x4x4xf32"}, {"2x5x2x4xf32"}, {"2x5x2x4xf32"}, {"2x1x3x5xf32"}, seen});
  add("attention_unfused_bias", "weft.attention %a, %b, %c bias(%d) mask(%e) unfused",
      {{"2x3x2x4xf32"}, {"2x5x1x4xf32"}, {"2x5x1x4xf32"}, {"1x1x3x5xf32"}, seen});
  add("embedding", "weft.embedding %a, %b", {{"2x4xi32", Integers(5)}, {"5x3xf32"}});
  add("take", "weft.take %a, %b dim(1)", {{"2x5x3xf32"}, {"2x4xi32", Integers(5)}});
  add("take_batch", "weft.take %a, %b dim(2) batch(1)", {{"2x3x5x2xf32"}, {"2x4xi64", Integers(5)}});
  add("take_last", "weft.take %a, %b dim(1) batch(1) last", {{"2x3x4xf32"}, {"2x6xi32", Integers(3)}});
  const Input groups = {"2x3xi32", Integers(3)};
  add("grouped_matmul", "weft.grouped_matmul %a, %b, %c", {{"2x6x4xf32"}, {"3x4x5xf32"}, groups});
  add("grouped_matmul_transposed", "weft.grouped_matmul %a, %b, %c transposed", {{"2x6x4xf32"}, {"3x5x4xf32"}, groups});
  add("grouped_outer", "weft.grouped_outer %a, %b, %c groups(3)", {{"2x6x4xf32"}, {"2x6x5xf32"}, groups});
  add("scatter_add", "weft.scatter_add %a, %b dim(0) size(3)", {{"2x4x3xf32"}, {"2x4xi32", Integers(3)}});
  add("scatter_add_batch", "weft.scatter_add %a, %b dim(2) size(4) batch(1)",
      {{"2x3x6xf32"}, {"2x6xi32", Integers(4)}});
  add("scatter_set", "weft.scatter_set %a, %b, %c dim(1) batch(1)",
      {{"2x4x3xf32"}, {"2x5xi32", Integers(4)}, {"2x5x3xf32"}});
  // The value counts, not where it stands: elements are 1/2 apart.
  for (const char* dim : {"0", "1", "2"}) {
    cases.push_back({OpCase(std::string("sort_") + dim, std::string("weft.sort %a dim(") + dim + ")",
                            {{"2x3x5xf32", Distinct(0)}})});
    cases.push_back({OpCase(std::string("top_k_") + dim, std::string("weft.top_k %a k(2) dim(") + dim + ")",
                            {{"2x3x5xf32", Distinct(0)}})});
  }
  add("cross_entropy", "weft.cross_entropy %a, %b", {{"2x4x7xf32", Uniform(-2, 2)}, {"2x4xi32", Integers(7)}});
  add("cross_entropy_ignore", "weft.cross_entropy %a, %b ignore(-1)",
      {{"6x7xf32", Uniform(-2, 2)}, {"6xi32", Labels(7, -1)}});
  add("cross_entropy_smoothed", "weft.cross_entropy %a, %b label_smoothing(0.2)",
      {{"2x4x7xf32", Uniform(-2, 2)}, {"2x4xi32", Integers(7)}});
  add("dropout", "weft.dropout %a rate(0.3) seed(5)", {{"4x5xf32"}});
  add("unfold", "weft.unfold %a dim(1) size [3, 2] stride [2, 1] padding [1, 0]", {{"2x5x4x3xf32"}});
  add("unfold_dilated", "weft.unfold %a dim(1) size [2] padding [2] padding_after [1] dilation [2]", {{"2x5x3xf32"}});
  add("fold", "weft.fold %a dim(1) size [3, 2] extents [5, 4] stride [2, 1] padding [1, 0]", {{"2x3x3x3x2x2xf32"}});
  // Elements are 1/2 apart: the largest of a window stays that.
  cases.push_back({OpCase("max_pool", "weft.max_pool %a dim(1) size [3, 2] stride [2, 1] padding [1, 1]",
                          {{"2x5x4x3xf32", Distinct(0)}})});
  add("depthwise_conv", "weft.depthwise_conv %a, %b stride [2, 1] padding [1, 1] dilation [1, 2]",
      {{"2x5x4x3xf32"}, {"3x2x3xf32"}});
  add("depthwise_conv_past", "weft.depthwise_conv %a, %b padding [2] padding_after [0]", {{"2x5x3xf32"}, {"3x3xf32"}});
  return cases;
}

// Differentiable ops without a case, and why.
const std::map<std::string, std::string>& Exempt() {
  static const auto* const exempt = new std::map<std::string, std::string>{
      {"to_global", "has no kernel: its gradient is passed on"},
      {"stop_gradient", "has no gradient, which //ops:gradient_test checks"},
      {"sign", "piecewise constant: has no gradient"},
      {"greater", "piecewise constant: has no gradient"},
      {"greater_equal", "piecewise constant: has no gradient"},
      {"less", "piecewise constant: has no gradient"},
      {"less_equal", "piecewise constant: has no gradient"},
      {"equal", "piecewise constant: has no gradient"},
      {"not_equal", "piecewise constant: has no gradient"},
      {"random_normal", "has no operands"},
      {"random_uniform", "has no operands"},
      {"fill", "has no operands"},
      {"iota", "has no operands"},
      {"constant", "has no operands"},
  };
  return *exempt;
}

const KernelRegistry& Kernels() {
  static const auto* const registry = [] {
    auto* const filled = new KernelRegistry;
    RegisterCpuKernels(*filled);
    testing::RegisterGeneratedKernels(*filled);
    return filled;
  }();
  return *registry;
}

TEST(GradientCoverageTest, EveryDifferentiableOpHasACase) {
  std::set<std::string> with_case;
  for (const GradientCase& one : GradientCases()) with_case.insert(one.op.Mnemonic());
  const auto context = MakeContext();
  int ops = 0;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations()) {
    if (!op.hasInterface<ir::DifferentiableOpInterface>()) continue;
    const std::string name = op.stripDialect().str();
    EXPECT_EQ(with_case.count(name), Exempt().count(name) ? 0u : 1u) << name << ": needs a case unless it is exempt";
    ++ops;
  }
  std::cout << ops - static_cast<int>(Exempt().size()) << " ops, " << GradientCases().size() << " cases\n";
}

class GradientTest : public ::testing::TestWithParam<GradientCase> {
 protected:
  // Draws the inputs of the case.
  void SetUp() override {
    const OpCase& one = GetParam().op;
    const ParsedOp parsed = Parse(*context_, one);
    ASSERT_NE(parsed.op, nullptr) << one.op;
    for (size_t i = 0; i < one.inputs.size(); ++i) {
      const TensorSpec spec = WholeSpec(parsed.op->getOperand(static_cast<unsigned>(i)).getType());
      const std::string name(1, static_cast<char>('a' + i));
      inputs_[name] = Draw(one.inputs[i].fill, spec.dtype, spec.elements(), 40 + i);
      if (RowOf(spec.dtype)->is_float) parameters_.push_back(name);
    }
    const absl::Status built = graph_.Build(one);
    ASSERT_TRUE(built.ok()) << std::string(built.message());
  }

  // The terms of the loss with one element moved.
  Values TermsAt(const std::string& name, size_t element, double by) {
    std::map<std::string, Values> moved = inputs_;
    moved[name][element] += by;
    absl::StatusOr<Values> terms = graph_.Terms(moved);
    EXPECT_TRUE(terms.ok()) << std::string(terms.status().message());
    return terms.ok() ? *terms : Values();
  }

  // A derivative and how far it may be off.
  struct Estimate {
    double value = 0, error = 0;
  };

  // The central difference of fourth order, (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h. It is off by h^4 / 30 times
  // the fifth derivative. Its rounding error comes from the terms that move, each computed within 4 roundoffs of the
  // largest: weights 18 / 12h of that. Terms that do not depend on the element cancel without error.
  Estimate Difference(const std::string& name, size_t element) {
    const Values up = TermsAt(name, element, kStep), down = TermsAt(name, element, -kStep);
    const Values up2 = TermsAt(name, element, 2 * kStep), down2 = TermsAt(name, element, -2 * kStep);
    double sum = 0, largest = 0, moving = 0;
    for (size_t i = 0; i < up.size(); ++i) {
      sum += 8 * (up[i] - down[i]) - (up2[i] - down2[i]);
      moving += up[i] != down[i] || up2[i] != down2[i];
      largest = std::max({largest, std::abs(up2[i]), std::abs(down2[i])});
    }
    return {sum / (12 * kStep), GetParam().fifth * std::pow(kStep, 4) / 30 +
                                    4 * kRoundoff * moving * largest * 18 / (12 * kStep) + GetParam().rounding};
  }

  const std::unique_ptr<mlir::MLIRContext> context_ = MakeContext();
  GradientGraph graph_{*context_, Kernels()};
  std::map<std::string, Values> inputs_;
  std::vector<std::string> parameters_;
};

TEST_P(GradientTest, IsTheDifferenceOfTheLoss) {
  const absl::StatusOr<std::map<std::string, Values>> gradients = graph_.Gradients(inputs_);
  ASSERT_TRUE(gradients.ok()) << std::string(gradients.status().message());
  double largest = 0, worst = 0;
  for (const std::string& name : parameters_) {
    const auto gradient = gradients->find(name);
    ASSERT_NE(gradient, gradients->end()) << name << " has no gradient";
    ASSERT_EQ(gradient->second.size(), inputs_[name].size());
    for (size_t i = 0; i < gradient->second.size(); ++i) {
      const Estimate expected = Difference(name, i);
      const double actual = gradient->second[i];
      // The gradient itself is a float32 number, some sums away from exact.
      EXPECT_NEAR(actual, expected.value, expected.error + 64 * kRoundoff * std::abs(actual))
          << name << "[" << i << "]";
      largest = std::max(largest, std::abs(actual));
      worst = std::max(worst, expected.error);
      if (HasFailure()) return;
    }
  }
  // A tolerance as large as the gradient would prove nothing.
  EXPECT_LT(worst, largest / 20);
}

INSTANTIATE_TEST_SUITE_P(Ops, GradientTest, ::testing::ValuesIn(GradientCases()),
                         [](const ::testing::TestParamInfo<GradientCase>& info) { return info.param.op.name; });

}  // namespace
}  // namespace weft::tests
