#include "runtime/plan/nccl.h"

#include <cmath>

#include "gtest/gtest.h"
#include "runtime/plan/cost.h"

namespace weft::plan {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce, kAllGather = CollectiveKind::kAllGather;

// A node of H100 as NCCL sees it, but without NVLS.
Nccl Hopper(double nvls = 0) { return {true, nvls, 1e-6, {141e9, 39e9, 20.4e9}}; }

// Of eight ranks a node.
double Seconds(const Nccl& nccl, CollectiveKind kind, double bytes, int64_t nodes) {
  return NcclSeconds(nccl, kind, bytes, 8 * nodes, nodes, 370e9, 370e9);
}

TEST(NcclTest, LargeMessagesGoByRingsAtTheSpeedOfTheLinks) {
  // Simple: 8.4 us and 14 steps of 3.4 us.
  EXPECT_NEAR(Seconds(Hopper(), kAllReduce, 8e9, 1), 8.4e-6 + 14 * 3.4e-6 + 8e9 * 14 / 8 / 370e9, 1e-12);
  EXPECT_NEAR(Seconds(Hopper(), kAllGather, 8e9, 1), 8.4e-6 + 7 * 3.4e-6 + 8e9 * 7 / 8 / 370e9, 1e-12);
  // 1 of its 63 steps in 9 crosses nodes, at 14 us; the others post to the network too, 3 us are less than 3.4.
  EXPECT_NEAR(Seconds(Hopper(), kAllGather, 64e9, 8), 8.4e-6 + 56 * 3.4e-6 + 7 * 14e-6 + 64e9 * 63 / 64 / 370e9, 1e-12);
}

TEST(NcclTest, SmallMessagesHaveTheLeastLatency) {
  // LL: a tree of 7 hops each way, or 7 steps of a ring.
  EXPECT_NEAR(Seconds(Hopper(), kAllReduce, 0, 1), 6.6e-6 + 14 * 0.6e-6, 1e-12);
  EXPECT_NEAR(Seconds(Hopper(), kAllGather, 0, 1), 6.6e-6 + 7 * 0.6e-6, 1e-12);
  // On many nodes trees win: their latency grows with the logarithm.
  EXPECT_NEAR(Seconds(Hopper(), kAllReduce, 0, 64), 6.8e-6 + 2 * (7 * 0.6e-6 + 6 * 5e-6), 1e-12);
}

TEST(NcclTest, TheSwitchReducesLargeMessages) {
  EXPECT_NEAR(Seconds(Hopper(0.85), kAllReduce, 8e9, 1), 25e-6 + 8e9 * 7 / 8 / (0.85 * 370e9), 1e-12);
  EXPECT_EQ(Seconds(Hopper(0.85), kAllReduce, 0, 1), Seconds(Hopper(), kAllReduce, 0, 1)) << "and no small ones";
  EXPECT_LT(Seconds(Hopper(0.85), kAllReduce, 8e9, 4), Seconds(Hopper(), kAllReduce, 8e9, 4));
}

TEST(NcclTest, PcieIsSlowerToAnswer) {
  Nccl pcie = Hopper();
  pcie.nvlink = false;
  EXPECT_GT(Seconds(pcie, kAllReduce, 1e3, 1), Seconds(Hopper(), kAllReduce, 1e3, 1));
}

TEST(NcclTest, LinksOfANetworkHaveRatesThatItsSearchTries) {
  EXPECT_EQ(NcclNetworkBytes(25e9), 24e9);
  EXPECT_EQ(NcclNetworkBytes(50e9), 48e9);
  EXPECT_EQ(NcclNetworkBytes(100e9), 96e9);
  EXPECT_EQ(NcclNetworkBytes(12e9), 12e9);
  EXPECT_EQ(NcclNetworkBytes(1e6), 1e6) << "slower than all of these";
  // Rings between nodes go by that, those of a node do not.
  Machine machine;
  machine.node = {300e9, 0};
  machine.network = {25e9, 0};
  machine.nccl = Hopper();
  Machine slower = machine;
  slower.network.bytes_s = 24e9;
  for (int64_t ranks : {2, 16}) {
    const Spread group{ranks, ranks / 2};
    EXPECT_EQ(CollectiveSeconds(machine, kAllReduce, 8e9, group), CollectiveSeconds(slower, kAllReduce, 8e9, group));
    slower.nccl.reset();
    machine.nccl.reset();
    EXPECT_LT(CollectiveSeconds(machine, kAllReduce, 8e9, group), CollectiveSeconds(slower, kAllReduce, 8e9, group));
    machine.nccl = slower.nccl = Hopper();
  }
}

// More bytes, and slower links, never take less time.
TEST(NcclTest, GoesTheRightWay) {
  for (CollectiveKind kind : {kAllReduce, kAllGather, CollectiveKind::kReduceScatter}) {
    for (int64_t nodes : {1, 2, 3, 64}) {
      double before = 0;
      for (double bytes = 1; bytes < 1e11; bytes *= 1.5) {
        const double now = Seconds(Hopper(0.85), kind, bytes, nodes);
        EXPECT_GE(now, before) << bytes << " on " << nodes;
        EXPECT_LE(now, NcclSeconds(Hopper(0.85), kind, bytes, 8 * nodes, nodes, 90e9, 90e9));
        before = now;
      }
    }
  }
}

// A machine that has it asks it, but of all_to_all.
TEST(NcclTest, CostsFollowIt) {
  Machine plain;
  Machine machine = plain;
  machine.nccl = Hopper();
  EXPECT_EQ(CollectiveSeconds(machine, kAllReduce, 1e6, {8, 8}),
            NcclSeconds(Hopper(), kAllReduce, 1e6, 8, 1, machine.node.bytes_s, machine.node.bytes_s));
  EXPECT_NE(CollectiveSeconds(machine, kAllReduce, 1e6, {8, 8}), CollectiveSeconds(plain, kAllReduce, 1e6, {8, 8}));
  EXPECT_EQ(CollectiveSeconds(machine, CollectiveKind::kAllToAll, 1e6, {8, 8}),
            CollectiveSeconds(plain, CollectiveKind::kAllToAll, 1e6, {8, 8}));
}

}  // namespace
}  // namespace weft::plan
