#include "runtime/plan/scale.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/plan/cluster.h"

namespace weft::plan {
namespace {

Cluster Calibrated() {
  Cluster cluster;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    device { kind: "cpu" contraction_flops: 1e11 other_flops: 4e9 memory_bytes_s: 1e10 launch_s: 1e-6 }
    node { count: 2 ranks: 2 link_bytes_s: 3e9 latency_s: 1e-5 }
    network { link_bytes_s: 1e9 latency_s: 5e-5 }
    calibration {
      device_kind: "cpu"
      product { m: 64 n: 64 k: 64 type: "f32" flops_s: 5e10 }
      kernel { family: "attention" bytes: 1e6 bytes_s: 8e9 flops_s: 4e10 }
      collective { kind: "all_reduce" on_node: 2 nodes: 1 bytes: 8 seconds: 1e-5 }
      collective { kind: "all_reduce" on_node: 2 nodes: 1 bytes: 1e6 seconds: 5e-4 }
      collective { kind: "all_reduce" on_node: 2 nodes: 2 bytes: 8 seconds: 1e-4 }
      collective { kind: "all_reduce" on_node: 2 nodes: 2 bytes: 1e6 seconds: 2.1e-3 }
    })",
                                                            &cluster));
  return cluster;
}

Machine Scaled(const std::string& key, double factor) {
  Cluster cluster = Calibrated();
  EXPECT_TRUE(ScaleRate(key, factor, &cluster).ok()) << key;
  EXPECT_TRUE(CheckCluster(cluster).ok()) << key;
  return MachineOf(cluster);
}

KernelWork ProductWork() {
  KernelWork work;
  work.contraction_flops = 2.0 * 64 * 64 * 64;
  work.product = {1, 64, 64, 64, "f32"};
  return work;
}

KernelWork AttentionWork(double flops, double bytes) {
  KernelWork work;
  work.contraction_flops = flops;
  work.bytes = bytes;
  work.family = "attention";
  return work;
}

double AllReduce(const Machine& machine, const Spread& group, double bytes) {
  return CollectiveSeconds(machine, CollectiveKind::kAllReduce, bytes, group);
}

// Seconds behind the launch.
double Behind(const Machine& machine, const KernelWork& work) { return KernelSeconds(machine, work) - 1e-6; }

// Rates are interpolated by their logarithms, which rounds.
void ExpectAlike(double got, double expected) { EXPECT_NEAR(got, expected, 1e-12 * expected); }

TEST(ScaleTest, TablesFollowTheirRate) {
  const Machine plain = MachineOf(Calibrated()), products = Scaled("device.contraction_flops", 2),
                memory = Scaled("device.memory_bytes_s", 4);
  ExpectAlike(Behind(products, ProductWork()), Behind(plain, ProductWork()) / 2);
  ExpectAlike(Behind(memory, ProductWork()), Behind(plain, ProductWork()));
  ExpectAlike(Behind(products, AttentionWork(1e9, 1)), Behind(plain, AttentionWork(1e9, 1)) / 2);
  ExpectAlike(Behind(memory, AttentionWork(0, 1e6)), Behind(plain, AttentionWork(0, 1e6)) / 4);
  ExpectAlike(Behind(products, AttentionWork(0, 1e6)), Behind(plain, AttentionWork(0, 1e6)));
}

TEST(ScaleTest, OfACollectiveTheLatencyStays) {
  const Spread node{2, 2}, both{4, 2};
  const Machine link = Scaled("node.link_bytes_s", 2), network = Scaled("network.link_bytes_s", 0.5);
  EXPECT_NEAR(AllReduce(link, node, 1e6), 1e-5 + 4.9e-4 / 2, 1e-12);
  EXPECT_NEAR(AllReduce(link, node, 8), 1e-5, 1e-12);
  EXPECT_NEAR(AllReduce(link, both, 1e6), 2.1e-3, 1e-12);
  EXPECT_NEAR(AllReduce(network, both, 1e6), 1e-4 + 2e-3 * 2, 1e-12);
  EXPECT_NEAR(AllReduce(network, node, 1e6), 5e-4, 1e-12);
}

TEST(ScaleTest, WithoutTablesTheRateAloneChanges) {
  Cluster cluster = Calibrated();
  cluster.clear_calibration();
  Cluster expected = cluster;
  expected.mutable_device()->set_other_flops(1.2e10);
  ASSERT_TRUE(ScaleRate("device.other_flops", 3, &cluster).ok());
  EXPECT_EQ(cluster.DebugString(), expected.DebugString());
}

TEST(ScaleRate, OfATierByItsName) {
  Cluster cluster;
  for (const char* name : {"disk", "host.memory"}) {
    Tier& tier = *cluster.add_tier();
    tier.set_name(name);
    tier.set_read_bytes_s(3);
    tier.set_write_bytes_s(5);
    tier.set_update_bytes_s(7);
  }
  ASSERT_TRUE(ScaleRate("tier.host.memory.bytes_s", 2, &cluster).ok());
  ASSERT_TRUE(ScaleRate("tier.disk.update_bytes_s", 3, &cluster).ok());
  EXPECT_EQ(cluster.tier(0).read_bytes_s(), 3);
  EXPECT_EQ(cluster.tier(0).update_bytes_s(), 21);
  EXPECT_EQ(cluster.tier(1).read_bytes_s(), 6);
  EXPECT_EQ(cluster.tier(1).write_bytes_s(), 10);
  EXPECT_EQ(cluster.tier(1).update_bytes_s(), 7);
  EXPECT_NE(std::string(ScaleRate("tier.tape.bytes_s", 2, &cluster).message())
                .find("tier.host.memory.update_bytes_s), got 2x"),
            std::string::npos);
}

TEST(ScaleTest, OtherKeysAndFactorsAreRefused) {
  Cluster cluster = Calibrated();
  EXPECT_EQ(ScaleRate("node.count", 2, &cluster).message(),
            "node.count: expected a rate that can be so many times as large (device.contraction_flops, "
            "device.memory_bytes_s, device.other_flops, node.link_bytes_s, network.link_bytes_s), got 2x");
  EXPECT_EQ(ScaleRate("node.link_bytes_s", 0, &cluster).message(),
            "node.link_bytes_s: expected a finite factor above 0, got 0x");
  EXPECT_FALSE(ScaleRate("node.link_bytes_s", -1, &cluster).ok());
  EXPECT_FALSE(ScaleRate("node.link_bytes_s", std::numeric_limits<double>::infinity(), &cluster).ok());
  EXPECT_EQ(cluster.DebugString(), Calibrated().DebugString());
}

}  // namespace
}  // namespace weft::plan
