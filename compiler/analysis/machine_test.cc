#include "compiler/analysis/machine.h"

#include "tests/support/analysis_fixture.h"

namespace weft::compiler {
namespace {

class MachineTest : public AnalysisTest {
protected:
  // Of a graph whose attribute is `rates`.
  llvm::FailureOr<CostModel> read(const std::string &rates) {
    return machineOf(
        graph("@g() placements [#weft.placement<\"cpu\", [], [0]>] attributes {weft.machine = " + rates + "}", ""));
  }
  // Of rates without a fault.
  CostModel good(const std::string &rates) {
    llvm::FailureOr<CostModel> machine = read(rates);
    EXPECT_TRUE(succeeded(machine)) << said;
    return machine.value_or(CostModel());
  }
};

TEST_F(MachineTest, WhatIsNotSaidIsTheDefault) {
  ir::GraphOp plain = graph("@g() placements [#weft.placement<\"cpu\", [], [0]>]", "");
  EXPECT_FALSE(attributeOf(&context, *machineOf(plain)));
  CostModel machine = good("{node_latency_s = 0.5}"), defaults;
  EXPECT_EQ(machine.node.latency_s, 0.5);
  machine.node.latency_s = defaults.node.latency_s;
  EXPECT_FALSE(attributeOf(&context, machine));
}

// Prime numbers, so that no two rates may change places unseen; doubles that no short text has.
TEST_F(MachineTest, EveryRateComesBackToTheBit) {
  CostModel machine;
  double next = 2.1;
  double *rates[] = {&machine.contraction_flops, &machine.other_flops,       &machine.memory_bytes_s,
                     &machine.launch_s,          &machine.node.bytes_s,      &machine.node.latency_s,
                     &machine.network.bytes_s,   &machine.network.latency_s, &machine.graph_launch_s};
  for (double *rate : rates) {
    *rate = next /= 3;
  }
  machine.node_ranks = 7;
  machine.messages = true;
  machine.tiers = {{"disk", 0.3, 0.7, 1.0 / 3}, {"a tape", 0.1, 0.2, 0}};
  std::string text;
  llvm::raw_string_ostream(text) << attributeOf(&context, machine);
  CostModel back = good(text);
  EXPECT_EQ(back.contraction_flops, machine.contraction_flops);
  EXPECT_EQ(back.other_flops, machine.other_flops);
  EXPECT_EQ(back.memory_bytes_s, machine.memory_bytes_s);
  EXPECT_EQ(back.launch_s, machine.launch_s);
  EXPECT_EQ(back.graph_launch_s, machine.graph_launch_s);
  EXPECT_EQ(back.node.bytes_s, machine.node.bytes_s);
  EXPECT_EQ(back.node.latency_s, machine.node.latency_s);
  EXPECT_EQ(back.network.bytes_s, machine.network.bytes_s);
  EXPECT_EQ(back.network.latency_s, machine.network.latency_s);
  EXPECT_EQ(back.node_ranks, 7);
  EXPECT_TRUE(back.messages);
  const plan::TierRates *disk = plan::FindTier(back, "disk"), *tape = plan::FindTier(back, "a tape");
  ASSERT_TRUE(disk && tape);
  EXPECT_EQ(std::tuple(disk->read_bytes_s, disk->write_bytes_s, disk->latency_s), std::tuple(0.3, 0.7, 1.0 / 3));
  EXPECT_EQ(tape->latency_s, 0);
  EXPECT_EQ(plan::FindTier(back, "none"), nullptr);
}

TEST_F(MachineTest, TablesComeBackToTheBit) {
  CostModel machine;
  machine.tables = std::make_shared<const plan::RateTables>(*plan::RateTables::Of(
      {{"bf16", 128, 64, 32, 1e14 / 3},
       {"bf16", 8, 64, 32, 1e13 / 3},
       {"f32", 1, 2, 3, 7},
       {"f32", 4, 0, 16, 5, "causal_attention"}},
      {{"layer_norm", 1e6, 1e12 / 7, 0}, {"layer_norm", 1e6, 1e12 / 3, 0, "bf16"}, {"attention", 1e6, 1e12, 1e14}},
      {{CollectiveKind::kReduceScatter, 8, 2, 1e6, 1e-3 / 3}}));
  machine.nccl = plan::Nccl{true, 0.85, 1e-6 / 3, {3e9, 2e9, 1e9}};
  std::string text;
  llvm::raw_string_ostream(text) << attributeOf(&context, machine);
  CostModel back = good(text);
  ASSERT_TRUE(back.tables);
  ASSERT_EQ(back.tables->products().size(), 4u);
  EXPECT_NEAR(back.tables->FlopsOf({1, 4, 4, 16, "f32", "causal_attention"}), 5, 1e-9);
  EXPECT_EQ(back.tables->FlopsOf({1, 20, 64, 32, "bf16"}), machine.tables->FlopsOf({1, 20, 64, 32, "bf16"}));
  EXPECT_EQ(back.tables->FlopsOf({1, 1, 2, 3, "f32"}), machine.tables->FlopsOf({1, 1, 2, 3, "f32"}));
  for (const char *family : {"layer_norm", "attention"}) {
    for (const char *type : {"", "bf16"}) {
      plan::KernelWork work = {1e9, 0, 1e6, {}, family, type};
      EXPECT_EQ(plan::KernelSeconds(back, work), plan::KernelSeconds(machine, work));
    }
  }
  EXPECT_EQ(back.tables->SecondsOf(CollectiveKind::kReduceScatter, 8, 2, 1e6),
            machine.tables->SecondsOf(CollectiveKind::kReduceScatter, 8, 2, 1e6));
  EXPECT_EQ(attributeOf(&context, back), attributeOf(&context, machine));
  ASSERT_TRUE(back.nccl);
  EXPECT_TRUE(back.nccl->nvlink);
  EXPECT_EQ(back.nccl->nvls_efficiency, 0.85);
  EXPECT_EQ(back.nccl->net_overhead_s, 1e-6 / 3);
  EXPECT_EQ(back.nccl->ll_bytes_s, machine.nccl->ll_bytes_s);
}

TEST_F(MachineTest, WhatIsNoTableIsAnError) {
  for (const char *wrong :
       {"{product.bf16 = array<f64: 1.0, 2.0, 3.0>}", "{kernel.add = 1.0}",
        "{collective.gather = array<f64: 2.0, 1.0, 1.0, 1.0>}", "{nccl = array<f64: 1.0, 0.0, 0.0, 1.0, 1.0, 0.0>}",
        "{nccl = array<f64: 1.0>}", "{collective.all_reduce = array<f64: 0.0, 1.0, 1.0, 1.0>}",
        "{rates.bf16 = array<f64: 1.0, 2.0, 3.0, 4.0>}"}) {
    said.clear();
    EXPECT_TRUE(failed(read(wrong))) << wrong;
    EXPECT_NE(said.find("weft.machine: expected rates of 0 or more, of"), std::string::npos) << said;
  }
  said.clear();
  EXPECT_TRUE(failed(read("{product.bf16 = array<f64: 1.0, 2.0, 3.0, -4.0>}")));
  EXPECT_NE(said.find("weft.machine: product[0].flops_s: expected a finite number above 0, got -4"), std::string::npos)
      << said;
}

TEST_F(MachineTest, WhatIsNoRateIsAnError) {
  for (const char *wrong :
       {"{speed = 1.0}", "{launch_s = -1.0}", "{launch_s = \"fast\"}", "{launch_s = 1}", "{node_ranks = 0}",
        "{messages = 1.0}", "{node_ranks = 2.0}", "{other_flops = 0x7FF0000000000000 : f64}"}) {
    said.clear();
    EXPECT_TRUE(failed(read(wrong))) << wrong;
    EXPECT_NE(said.find("weft.machine: expected rates of 0 or more, of contraction_flops,"), std::string::npos) << said;
  }
  said.clear();
  EXPECT_TRUE(failed(read("8")));
  EXPECT_NE(said.find("weft.machine: expected a dictionary of rates, got 8"), std::string::npos) << said;
}

TEST_F(MachineTest, AnOpTakesAsLongAsComputingOrMovingDoes) {
  CostModel machine = good("{contraction_flops = 100.0, other_flops = 10.0, memory_bytes_s = 1000.0, launch_s = 0.25}");
  EXPECT_DOUBLE_EQ(plan::KernelSeconds(machine, {200, 0, 10}), 0.25 + 2);
  EXPECT_DOUBLE_EQ(plan::KernelSeconds(machine, {0, 200, 10}), 0.25 + 20);
  EXPECT_DOUBLE_EQ(plan::KernelSeconds(machine, {200, 0, 5000}), 0.25 + 5);
}

} // namespace
} // namespace weft::compiler
