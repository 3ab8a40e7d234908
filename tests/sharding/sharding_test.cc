// Every op, in every layout that its rule allows, on meshes of 2, 4 and 2 x 2 ranks, gives what one rank gives.
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "tests/sharding/layout_check.h"
#include "tests/sharding/op_case.h"
#include "tests/sharding/parsed_op.h"
#include "tests/support/generated.h"

namespace weft::tests {
namespace {

const Mesh kMeshes[] = {{{2}}, {{4}}, {{2, 2}}};

// Ops without a kernel, and why.
const std::map<std::string, std::string>& Exempt() {
  static const auto* const exempt = new std::map<std::string, std::string>{
      {"parameter", "a buffer that is loaded or initialised, by random kernels that have cases"},
      {"to_global", "pins a layout; becomes a box"},
      {"assign", "says which buffer a step ends in"},
      {"batch_norm", "composite; what it decomposes into has cases"},
      {"cross_entropy", "composite; what it decomposes into has cases"},
      {"stop_gradient", "decomposes into its operand"},
      {"adafactor", "a rule that is made of other ops; tests/optimizers runs it in layouts"},
      {"adafactor_vector", "likewise"},
      {"lamb", "likewise"},
      {"lars", "likewise"},
      {"lion", "likewise"},
      {"muon", "likewise"},
  };
  return *exempt;
}

// Kernels that stand for no op: what boxes become. The boxing test runs them.
const std::set<std::string>& BoxKernels() {
  static const auto* const names = new std::set<std::string>{"copy", "copy_tile", "mask_rank"};
  return *names;
}

// What an op with an attribute runs in place of the kernel of its name, and what an op and an `accumulate` become.
const std::set<std::string>& OtherKernels() {
  static const auto* const names = new std::set<std::string>{
      "attention_unfused", "attention_unfused_grad", "attention_unfused_bias_grad", "accumulate_embedding_grad"};
  return *names;
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

TEST(ShardingCoverageTest, EveryOpWithAKernelHasACase) {
  std::set<std::string> with_case;
  for (const OpCase& one : ShardingCases()) with_case.insert(one.Mnemonic());
  const std::vector<std::string> names = Kernels().Names();
  const std::set<std::string> kernels(names.begin(), names.end());
  const auto context = MakeContext();
  std::set<std::string> ops;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations()) {
    if (op.getDialectNamespace() != "weft" || !op.hasInterface<ir::WeftOpInterface>()) continue;
    const std::string name = op.stripDialect().str();
    ops.insert(name);
    EXPECT_EQ(kernels.count(name), Exempt().count(name) ? 0u : 1u) << name << ": has a kernel unless it is exempt";
    EXPECT_EQ(with_case.count(name), Exempt().count(name) ? 0u : 1u) << name << ": needs a case unless it is exempt";
  }
  for (const std::string& kernel : kernels) {
    EXPECT_TRUE(ops.count(kernel) + BoxKernels().count(kernel) + OtherKernels().count(kernel) == 1)
        << kernel << ": a kernel of no op";
  }
  std::cout << ops.size() - Exempt().size() << " ops, " << ShardingCases().size() << " cases\n";
}

class ShardingTest : public ::testing::TestWithParam<OpCase> {};

TEST_P(ShardingTest, EveryLayoutGivesWhatOneRankGives) {
  const OpCase& one = GetParam();
  const auto context = MakeContext();
  const ParsedOp parsed = Parse(*context, one);
  ASSERT_NE(parsed.op, nullptr) << one.op;
  LayoutCheck check(Kernels(), one, parsed.op);
  const absl::Status whole = check.RunWhole();
  ASSERT_TRUE(whole.ok()) << std::string(whole.message());
  const ir::ShardingRule rule = llvm::cast<ir::WeftOpInterface>(parsed.op).getShardingRule();
  Coverage coverage;
  for (const Mesh& mesh : kMeshes) {
    for (const std::string& failure : check.Check(rule, mesh, coverage)) ADD_FAILURE() << one.op << "\n" << failure;
  }
  EXPECT_EQ(coverage.refused > 0, one.uneven) << coverage.refused << " layouts were refused";
  EXPECT_EQ(coverage.zigzag > 0, rule.ring && rule.ring->zigzag) << coverage.zigzag << " zigzag rings";
  std::cout << "coverage: " << coverage.signatures << " signatures, " << coverage.layouts << " layouts, "
            << coverage.refused << " refused, " << coverage.kernel_runs << " runs\n";
}

INSTANTIATE_TEST_SUITE_P(Ops, ShardingTest, ::testing::ValuesIn(ShardingCases()),
                         [](const ::testing::TestParamInfo<OpCase>& info) { return info.param.name; });

// The check itself must notice rules that are wrong.
class WrongRuleTest : public ::testing::Test {
 protected:
  // What is wrong with `text` as the rule of the named case.
  std::vector<std::string> Failures(const std::string& case_name, const std::string& text,
                                    llvm::ArrayRef<llvm::SmallVector<int>> linear = {},
                                    ir::SbpState::Kind reduction = ir::SbpState::PartialSum) {
    for (const OpCase& one : ShardingCases()) {
      if (one.name != case_name) continue;
      const auto context = MakeContext();
      const ParsedOp parsed = Parse(*context, one);
      LayoutCheck check(Kernels(), one, parsed.op);
      EXPECT_TRUE(check.RunWhole().ok());
      auto shapes = [](auto values) { return llvm::map_to_vector(values, ir::shapeOf); };
      const auto rule = ir::ShardingRule::parse(text, shapes(parsed.op->getOperands()), shapes(parsed.op->getResults()))
                            .withLinear(linear)
                            .withReduction(reduction);
      Coverage coverage;
      return check.Check(rule, {{2}}, coverage);
    }
    ADD_FAILURE() << "no case " << case_name;
    return {};
  }
};

TEST_F(WrongRuleTest, RightRulesPass) {
  EXPECT_TRUE(Failures("softmax", "abV->abV").empty());
  EXPECT_TRUE(Failures("einsum_linear", "bsi,io->bso", {{0}, {1}}).empty());
  EXPECT_TRUE(Failures("reduce_max_last", "abv->ab", {}, ir::SbpState::PartialMax).empty());
}

TEST_F(WrongRuleTest, ASplitOfRowsThatMustBeWhole) {
  EXPECT_FALSE(Failures("softmax", "abv->abv").empty());
  EXPECT_FALSE(Failures("layer_norm", ".h,h,h->.h").empty());
  EXPECT_FALSE(Failures("attention_heads", "bsnd,bTnd,bTnd->bsnd").empty());
  EXPECT_FALSE(Failures("attention_heads", "bsnD,btnD,btnD->bsnD").empty());
  EXPECT_FALSE(Failures("attention_bias", "bsnD,btnD,btnD,1nst->bsnD").empty());
}

TEST_F(WrongRuleTest, LinearInWhatItIsNot) {
  EXPECT_FALSE(Failures("exp", ".->.", {{0}}).empty());
  EXPECT_FALSE(Failures("mul_same", "ab,ab->ab", {{0, 1}}).empty());
  EXPECT_FALSE(Failures("add_same", "ab,ab->ab", {{0}}).empty());
  EXPECT_FALSE(Failures("div_same", "ab,ab->ab", {{1}}).empty());
  EXPECT_FALSE(Failures("batch_variance", "ab,b->b", {{0}}).empty());
}

TEST_F(WrongRuleTest, AnotherReduction) {
  EXPECT_FALSE(Failures("reduce_max_last", "abv->ab").empty());
  EXPECT_FALSE(Failures("reduce_sum_last", "abv->ab", {}, ir::SbpState::PartialMax).empty());
}

TEST_F(WrongRuleTest, MixedUpDimensions) { EXPECT_FALSE(Failures("einsum_outer", "ij,kl->jikl").empty()); }

}  // namespace
}  // namespace weft::tests
