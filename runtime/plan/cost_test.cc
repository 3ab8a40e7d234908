#include "runtime/plan/cost.h"

#include "gtest/gtest.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/host_exchange.h"

namespace weft::plan {
namespace {

// 1 GB/s and 1 us on a node of four ranks, 0.25 GB/s and 10 us between nodes.
Machine Small() {
  Machine machine;
  machine.node = {1e9, 1e-6};
  machine.network = {0.25e9, 1e-5};
  machine.node_ranks = 4;
  return machine;
}

TEST(CostTest, AKernelIsAsSlowAsItsSlowerHalf) {
  Machine machine;
  machine.contraction_flops = 100;
  machine.other_flops = 10;
  machine.memory_bytes_s = 50;
  machine.launch_s = 1;
  EXPECT_DOUBLE_EQ(KernelSeconds(machine, {200, 10, 100}), 1 + 3);
  EXPECT_DOUBLE_EQ(KernelSeconds(machine, {200, 10, 500}), 1 + 10);
  machine.graph_launch_s = 0.25;
  EXPECT_DOUBLE_EQ(KernelSeconds(machine, {200, 10, 500}), 0.25 + 10) << "most kernels are replayed";
}

TEST(CostTest, ActsShareCores) {
  Machine machine;
  EXPECT_EQ(ShareOfCore(machine, 100), 1) << "each has its own";
  machine.node_cores = 1.5;
  EXPECT_EQ(ShareOfCore(machine, 1), 1);
  EXPECT_EQ(ShareOfCore(machine, 2), 0.75);
  EXPECT_EQ(ShareOfCore(machine, 6), 0.25);
}

TEST(CostTest, SpreadsOverNodes) {
  const Machine machine = Small();
  EXPECT_TRUE(SpreadOf(machine, {4, 5, 7}).one_node());
  EXPECT_EQ(SpreadOf(machine, {0, 1, 4}).on_a_node, 1) << "the node with fewest";
  // data x tensor = 4 x 4: a tensor group is a node, a data group has one rank on each.
  EXPECT_TRUE(SpreadOf(machine, {4, 4}, {1}).one_node());
  EXPECT_EQ(SpreadOf(machine, {4, 4}, {0}).on_a_node, 1);
  EXPECT_EQ(SpreadOf(machine, {4, 4}, {0, 1}).on_a_node, 4);
  EXPECT_EQ(SpreadOf(machine, {4, 4}, {0, 1}).ranks, 16);
  // 4 x 2: half a node each.
  EXPECT_EQ(SpreadOf(machine, {4, 2}, {0}).on_a_node, 2);
}

TEST(CostTest, RingsUseAllNetworksOfANode) {
  const Machine machine = Small();
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1e6, {4, 4}), 1e-6 + 1.5e-3);
  // Eight ranks, four a node: four rings of 0.25 GB/s, as fast as the node's links.
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1e6, {8, 4}), 1.1e-5 + 1.75e-3);
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kAllGather, 1e6, {4, 2}), 1.1e-5 + 0.75e-3 / 0.5);
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kReduceScatter, 1e6, {4, 1}), 2.1e-5 + 0.75e-3 / 0.25);
  // Of what a rank sends to three others, two thirds leave the node.
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kAllToAll, 1.6e6, {4, 2}),
                   1.1e-5 + 0.3e-3 * 2 / 3 / 0.25);
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1e6, {1, 1}), 0);
}

// Ranks that exchange messages have no rings; tables and shifts are as they were.
TEST(CostTest, MessagesGoAsHostsExchangeThem) {
  Machine machine = Small();
  machine.messages = true;
  const Spread group{8, 4};
  const BundledBytes two = {{CollectiveKind::kAllReduce, 1e6}, {CollectiveKind::kAllGather, 1e5}};
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1e6, group),
            HostExchangeOf(machine, {two[0]}, group).seconds);
  EXPECT_EQ(BundleSeconds(machine, two, group), HostExchangeOf(machine, two, group).seconds);
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kShift, 1e6, group),
            CollectiveSeconds(Small(), CollectiveKind::kShift, 1e6, group));
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1e6, {4, 4}),
            CollectiveSeconds(Small(), CollectiveKind::kAllReduce, 1e6, {4, 4}));
}

// The latency of rings is of a bundle, not of each of its collectives.
TEST(CostTest, ABundleBeginsOnce) {
  const BundledBytes two = {{CollectiveKind::kAllReduce, 1e6}, {CollectiveKind::kAllGather, 1e5}};
  const Spread group{8, 4};
  EXPECT_DOUBLE_EQ(BundleSeconds(Small(), two, group),
                   CollectiveSeconds(Small(), two[0].first, two[0].second, group) +
                       CollectiveSeconds(Small(), two[1].first, two[1].second, group) - 1.1e-5);
  EXPECT_EQ(BundleSeconds(Small(), {}, group), 0);
  EXPECT_EQ(BundleSeconds(Small(), two, {1, 1}), 0);
}

// Each rank gives its part to one other; where they lie on several nodes, some pair is apart.
TEST(CostTest, AShiftGoesByOneLink) {
  const Machine machine = Small();
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kShift, 1e6, {4, 4}), 1e-6 + 1e-3);
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kShift, 1e6, {8, 4}), 1e-5 + 4e-3);
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kShift, 1e6, {1, 1}), 0);
  EXPECT_EQ(SentBytes(CollectiveKind::kShift, 1e6, 8), 1e6);
}

// Each rank exchanges half of its part with one other.
TEST(CostTest, AZigzagIsHalfAShift) {
  const Machine machine = Small();
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kZigzag, 1e6, {4, 4}), 1e-6 + 0.5e-3);
  EXPECT_DOUBLE_EQ(CollectiveSeconds(machine, CollectiveKind::kZigzag, 1e6, {8, 4}), 1e-5 + 2e-3);
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kZigzag, 1e6, {1, 1}), 0);
}

TEST(CostTest, TransfersGoByTheLink) {
  EXPECT_DOUBLE_EQ(TransferSeconds(Small(), 1e6, true), 1e-6 + 1e-3);
  EXPECT_DOUBLE_EQ(TransferSeconds(Small(), 1e6, false), 1e-5 + 4e-3);
}

TEST(CostTest, AClusterWithoutRatesIsTheDefaultMachine) {
  Cluster cluster;
  cluster.mutable_device()->set_kind("cpu");
  cluster.mutable_node()->set_count(2);
  cluster.mutable_node()->set_ranks(4);
  ASSERT_TRUE(CheckCluster(cluster).ok());
  const Machine machine = MachineOf(cluster), standard;
  EXPECT_TRUE(machine.messages) << "hosts have no rings";
  EXPECT_EQ(machine.network.bytes_s, standard.network.bytes_s);
  EXPECT_EQ(machine.launch_s, standard.launch_s);
  EXPECT_EQ(machine.node_ranks, 4);
  ResolveCluster(&cluster);
  EXPECT_EQ(cluster.device().contraction_flops(), standard.contraction_flops);
  EXPECT_EQ(MachineOf(cluster).node.latency_s, machine.node.latency_s);
}

TEST(CostTest, AReserveIsNotThePlans) {
  Cluster cluster;
  cluster.mutable_device()->set_memory_bytes(100);
  EXPECT_EQ(PlanBytesOf(cluster), 100);
  cluster.mutable_calibration()->set_reserve_bytes(30);
  EXPECT_EQ(PlanBytesOf(cluster), 70);
  cluster.mutable_device()->set_memory_bytes(0);
  EXPECT_EQ(PlanBytesOf(cluster), 0) << "not looked at";
}

}  // namespace
}  // namespace weft::plan
