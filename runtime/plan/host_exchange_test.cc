#include "runtime/plan/host_exchange.h"

#include "gtest/gtest.h"

namespace weft::plan {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce, kReduceScatter = CollectiveKind::kReduceScatter,
                         kAllGather = CollectiveKind::kAllGather, kAllToAll = CollectiveKind::kAllToAll;

// 8 GB/s and 1 us on a node, 0.25 GB/s and 20 us a rank between nodes.
Machine Far() {
  Machine machine;
  machine.node = {8e9, 1e-6};
  machine.network = {0.25e9, 2e-5};
  machine.messages = true;
  return machine;
}

TEST(HostExchangeTest, SmallTensorsGoDirectly) {
  const HostExchange exchange = HostExchangeOf(Far(), {{kAllReduce, 1024}}, {16, 4});
  EXPECT_EQ(exchange.parts, 0);
  // 1920 bytes to 15 others, 12 of them on other nodes.
  EXPECT_DOUBLE_EQ(exchange.seconds, 1e-6 + 2 * 2e-5 + 1920 * 0.8 / 0.25e9);
  EXPECT_EQ(CollectiveSeconds(Far(), kAllReduce, 1024, {16, 4}), exchange.seconds);
}

// What leaves a node falls by as much as it has members; on each level the messages wait for each other.
TEST(HostExchangeTest, LargeOnesByTwoLevels) {
  const HostExchange sum = HostExchangeOf(Far(), {{kAllReduce, 64e6}}, {16, 4});
  const double inside = 2e-6 + 2 * 48e6 / 8e9, link = 2 * 16e6 / 0.25e9;
  EXPECT_EQ(sum.parts, 178) << "the root of 5 times 128 ms by 20 us";
  EXPECT_DOUBLE_EQ(sum.seconds, inside + 183 * (2e-5 + link / 178));
  const double directly = 2 * 64e6 * 12 / 16 / 0.25e9;
  EXPECT_LT(sum.seconds, 0.4 * directly);

  const HostExchange gathered = HostExchangeOf(Far(), {{kAllGather, 64e6}}, {16, 4});
  EXPECT_EQ(gathered.parts, 1);
  EXPECT_DOUBLE_EQ(gathered.seconds, 2e-6 + 48e6 / 8e9 + 2e-5 + 12e6 / 0.25e9);

  const HostExchange scattered = HostExchangeOf(Far(), {{kReduceScatter, 64e6}}, {16, 4});
  EXPECT_EQ(scattered.parts % 4, 0) << "each node has its own";
  EXPECT_LT(scattered.seconds, sum.seconds);
}

TEST(HostExchangeTest, WhereThereAreNoTwoLevels) {
  for (const Spread& group : {Spread{4, 1}, Spread{8, 8}, Spread{7, 3}}) {
    EXPECT_EQ(HostExchangeOf(Far(), {{kAllReduce, 64e6}}, group).parts, 0) << group.ranks;
  }
  EXPECT_EQ(HostExchangeOf(Far(), {{kAllToAll, 64e6}}, {16, 4}).parts, 0) << "each byte has one target";
}

TEST(HostExchangeTest, ABundleGoesOneWay) {
  for (double bytes : {1e2, 1e4, 1e6, 1e8}) {
    const BundledBytes bundle = {{kAllReduce, bytes}, {kAllGather, 3 * bytes}, {kAllToAll, bytes}};
    const HostExchange all = HostExchangeOf(Far(), bundle, {16, 4});
    EXPECT_EQ(all.parts > 0, bytes > 1e5) << bytes;
  }
}

// Without latency a part is as small as it may be.
TEST(HostExchangeTest, PartsAreBounded) {
  Machine machine = Far();
  machine.network.latency_s = 0;
  EXPECT_EQ(HostExchangeOf(machine, {{kAllReduce, 4 * 40960}}, {8, 4}).parts, 10);
  machine.network.latency_s = 1;
  machine.network.bytes_s = 1;
  EXPECT_EQ(HostExchangeOf(machine, {{kAllReduce, 4096}}, {8, 4}).parts, 1);
}

}  // namespace
}  // namespace weft::plan
