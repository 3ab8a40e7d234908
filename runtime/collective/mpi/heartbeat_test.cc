#include "runtime/collective/mpi/heartbeat.h"

#include <algorithm>
#include <set>

#include "gtest/gtest.h"

namespace weft::collective {
namespace {

using Ranks = std::vector<int>;

TEST(HeartbeatTest, NobodyIsHeardOnOneHost) {
  const HeartbeatPeers peers = HeartbeatPeers::Of({"a", "a", "a"}, 1);
  EXPECT_EQ(peers.to, Ranks());
  EXPECT_EQ(peers.from, Ranks());
}

TEST(HeartbeatTest, TwoHostsHearEachOther) {
  const std::vector<std::string> hosts = {"a", "b", "a", "b", "b"};
  EXPECT_EQ(HeartbeatPeers::Of(hosts, 0).from, (Ranks{1, 3}));
  EXPECT_EQ(HeartbeatPeers::Of(hosts, 2).from, (Ranks{3, 4}));
  EXPECT_EQ(HeartbeatPeers::Of(hosts, 4).from, (Ranks{0, 2}));
  EXPECT_EQ(HeartbeatPeers::Of(hosts, 4).turn, 2);
  EXPECT_EQ(HeartbeatPeers::Of(hosts, 0).to, (Ranks{1, 3, 4}));
}

TEST(HeartbeatTest, ARingOfHostsHearsEveryHost) {
  for (int count : {2, 3, 7}) {
    std::vector<std::string> hosts;
    for (int h = 0; h < count; ++h) hosts.insert(hosts.end(), 1 + h % 3, std::to_string(h));
    std::set<std::string> heard;
    for (int r = 0; r < static_cast<int>(hosts.size()); ++r) {
      const HeartbeatPeers peers = HeartbeatPeers::Of(hosts, r);
      for (int from : peers.from) {
        EXPECT_NE(hosts[from], hosts[r]);
        heard.insert(hosts[from]);
        const Ranks to = HeartbeatPeers::Of(hosts, from).to;  // whoever is heard speaks
        EXPECT_EQ(std::count(to.begin(), to.end(), r), 1);
      }
    }
    EXPECT_EQ(static_cast<int>(heard.size()), count);
  }
}

}  // namespace
}  // namespace weft::collective
