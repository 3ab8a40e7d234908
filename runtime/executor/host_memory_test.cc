#include "runtime/executor/host_memory.h"

#include "gtest/gtest.h"

namespace weft::executor {
namespace {

// Two stages of two ranks each, above a host's memory and a disk. The first stage has nothing below.
plan::Plan TwoStages() {
  plan::Plan plan;
  Cluster& cluster = *plan.mutable_header()->mutable_cluster();
  cluster.add_tier()->set_name("disk");
  Tier& host = *cluster.add_tier();
  host.set_name("host");
  host.set_kind(Tier::HOST);
  for (int s = 0; s < 2; ++s) {
    plan::Placement& placement = *plan.add_placements();
    for (int r = 0; r < 2; ++r) placement.add_ranks(2 * s + r);
    plan::Stage& stage = *plan.add_stages();
    stage.set_placement(s);
    stage.set_arena_bytes(s == 0 ? 100 : 200);
  }
  plan.mutable_stages(1)->add_tier_bytes(7000);
  plan.mutable_stages(1)->add_tier_bytes(5000);
  return plan;
}

TEST(HostMemoryTest, IsThatOfAllRanks) {
  const plan::Plan plan = TwoStages();
  const HostMemory memory = HostMemoryOf(plan, nullptr, {0, 1, 2, 3}, /*arenas=*/true);
  EXPECT_TRUE(CheckHostMemory(memory, 10600).ok());
  const absl::Status refused = CheckHostMemory(memory, 10599);
  EXPECT_EQ(refused, absl::ResourceExhaustedError("host memory: expected at most the 10599 bytes available, got 10600 "
                                                  "for 4 ranks: 600 B of arenas, 9.77 KiB of tier `host`"));
}

TEST(HostMemoryTest, OfGpusIsWhatLiesBelow) {
  const plan::Plan plan = TwoStages();
  const HostMemory memory = HostMemoryOf(plan, nullptr, {3}, /*arenas=*/false);
  EXPECT_EQ(CheckHostMemory(memory, 0).message(),
            "host memory: expected at most the 0 bytes available, got 5000 for 1 rank: 4.88 KiB of tier `host`");
  EXPECT_TRUE(CheckHostMemory(HostMemoryOf(plan, nullptr, {0}, /*arenas=*/false), 0).ok());
}

TEST(HostMemoryTest, HasRoomForAGuest) {
  const plan::Plan plan = TwoStages();
  plan::Plan guest = plan;
  guest.mutable_stages(0)->set_arena_bytes(150);
  guest.mutable_stages(1)->set_arena_bytes(50);
  guest.mutable_stages(1)->set_tier_bytes(1, 6000);
  const HostMemory memory = HostMemoryOf(plan, &guest, {0, 2}, /*arenas=*/true);
  EXPECT_TRUE(CheckHostMemory(memory, 6350).ok());
  EXPECT_FALSE(CheckHostMemory(memory, 6349).ok());
}

TEST(HostMemoryTest, IsEnoughIfNothingIsKnown) {
  EXPECT_TRUE(CheckHostMemory(HostMemoryOf(TwoStages(), nullptr, {0, 1, 2, 3}, /*arenas=*/true), -1).ok());
}

}  // namespace
}  // namespace weft::executor
