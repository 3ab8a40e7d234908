#include "tools/run/snapshot_choice.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace weft::run {
namespace {

using collective::HostRing;
using Ranks = std::vector<int>;

TEST(SnapshotNeighboursTest, OneHostHasNone) {
  const SnapshotNeighbours neighbours = SnapshotNeighbours::Of(HostRing({"a", "a", "a"}), 1);
  EXPECT_EQ(neighbours.to, -1);
  EXPECT_EQ(neighbours.from, Ranks());
}

TEST(SnapshotNeighboursTest, EachRankHasOneOnTheNextHost) {
  for (const std::vector<std::string>& hosts : {std::vector<std::string>{"a", "a", "b", "b", "c", "c"},
                                                {"a", "b", "a", "b"},
                                                {"a", "b", "b", "b", "c"},
                                                {"b", "a", "a"}}) {
    const HostRing ring(hosts);
    int kept = 0;
    for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
      const SnapshotNeighbours neighbours = SnapshotNeighbours::Of(ring, rank);
      ASSERT_GE(neighbours.to, 0);
      EXPECT_EQ(ring.HostOf(neighbours.to), ring.Next(ring.HostOf(rank)));
      EXPECT_NE(hosts[neighbours.to], hosts[rank]);
      for (const int from : neighbours.from) EXPECT_EQ(SnapshotNeighbours::Of(ring, from).to, rank);
      kept += static_cast<int>(neighbours.from.size());
    }
    EXPECT_EQ(kept, static_cast<int>(hosts.size()));
  }
}

TEST(SnapshotSetsTest, TheNewestComesFirst) {
  const std::vector<SnapshotSet> sets =
      SnapshotSetsOf({{1, 10, 0, 0}, {0, 30, 0, 0}, {0, 20, 0, 0}, {1, 30, 0, 0}}, {0});
  ASSERT_EQ(sets.size(), 4u);
  EXPECT_EQ(sets[0].step, 30);
  EXPECT_EQ(sets[0].run, 0);
  EXPECT_EQ(sets[1].step, 30);
  EXPECT_EQ(sets[1].run, 1);
  EXPECT_EQ(sets[2].step, 20);
  EXPECT_EQ(sets[3].step, 10);
}

TEST(SnapshotSetsTest, OneThatLacksARankSaysWhich) {
  // Of two runs and steps no snapshots make up for each other.
  const std::vector<SnapshotSet> sets = SnapshotSetsOf(
      {{0, 20, 0, 0}, {0, 20, 2, 0}, {0, 10, 0, 0}, {0, 10, 1, 0}, {0, 10, 2, 1}, {1, 20, 1, 0}}, {0, 0, 1});
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_EQ(sets[0].Lacks(), 1);
  EXPECT_EQ(sets[1].run, 1);
  EXPECT_EQ(sets[1].Lacks(), 0);
  EXPECT_EQ(sets[2].step, 10);
  EXPECT_EQ(sets[2].Lacks(), -1);
}

TEST(SnapshotSetsTest, ARanksOwnHostGoesFirst) {
  const std::vector<HeldSnapshot> held = {{0, 5, 0, 2}, {0, 5, 0, 1}, {0, 5, 1, 0}, {0, 5, 1, 2}, {0, 5, 2, 2}};
  EXPECT_EQ(SnapshotSetsOf(held, {1, 2, 0})[0].host_of_rank, (Ranks{1, 2, 2}));
  EXPECT_EQ(SnapshotSetsOf(held, {0, 0, 0})[0].host_of_rank, (Ranks{1, 0, 2}));
}

TEST(SnapshotSetsTest, ARankThatIsNotThereIsNobodys) {
  EXPECT_EQ(SnapshotSetsOf({{0, 5, 0, 0}, {0, 5, 7, 0}}, {0})[0].Lacks(), -1);
}

}  // namespace
}  // namespace weft::run
