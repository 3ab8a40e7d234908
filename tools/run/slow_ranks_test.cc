#include "tools/run/slow_ranks.h"

#include <initializer_list>

#include "gtest/gtest.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/plan/layout.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"

namespace weft::run {
namespace {

constexpr int kRead = 0, kBackward = 1, kReduce = 2, kUpdate = 4;  // actors of executor::TwoRanks()

// The plan of two ranks on as many as the axes have.
plan::Plan PlanOn(std::initializer_list<std::pair<const char*, int64_t>> axes) {
  plan::Plan plan = executor::TwoRanks();
  plan::Placement& placement = *plan.mutable_placements(0);
  placement.clear_axes();
  placement.clear_ranks();
  for (const auto& [name, size] : axes) {
    plan::Axis& axis = *placement.add_axes();
    axis.set_name(name);
    axis.set_size(size);
  }
  for (int rank = 0; rank < plan::RankCount(placement); ++rank) placement.add_ranks(rank);
  return plan;
}

// Each rank computes for 100 ns, a quarter of it in its update.
std::vector<RankTimes> Alike(int ranks) {
  std::vector<RankTimes> times(ranks, {"a", std::vector<int64_t>(5, 0)});
  for (RankTimes& of : times) {
    of.busy_ns[kBackward] = 75;
    of.busy_ns[kUpdate] = 25;
  }
  return times;
}

TEST(SlowRanksTest, NamesTheOneOfThreeAndWhereItLoses) {
  const plan::Plan plan = PlanOn({{"data", 3}});
  SlowRanks slow(plan, 10);
  EXPECT_TRUE(slow.compares());
  std::vector<RankTimes> times = Alike(3);
  EXPECT_TRUE(slow.Find(20, times).empty());
  times[1].host = "b";
  times[1].busy_ns[kUpdate] = 75;
  std::vector<trace::SlowRank> found = slow.Find(30, times);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(TextOf(found[0]),
            "rank 1 (host b) takes 1.50 x the others' compute since step 21, most of it in `update`, 3.00 x");
  EXPECT_EQ(found[0].step, 30);
  // It stays so: since then. Then not, and again: since the time before that.
  EXPECT_EQ(slow.Find(40, times)[0].since, 21);
  EXPECT_TRUE(slow.Find(50, Alike(3)).empty());
  EXPECT_EQ(slow.Find(60, times)[0].since, 51);
}

TEST(SlowRanksTest, ALittleIsNotSlowAndWaitingIsNotComputing) {
  const plan::Plan plan = PlanOn({{"data", 2}});
  SlowRanks slow(plan, 0);
  std::vector<RankTimes> times = Alike(2);
  times[0].busy_ns[kBackward] = 95;
  times[1].busy_ns[kRead] = times[1].busy_ns[kReduce] = 1000;
  EXPECT_TRUE(slow.Find(1, times).empty());
  times[0].busy_ns[kBackward] = 105;
  EXPECT_EQ(slow.Find(2, times).size(), 1u);
}

TEST(SlowRanksTest, ComparesThoseWithTheSameShareOfASequence) {
  const plan::Plan split = PlanOn({{"context", 2}}), both = PlanOn({{"data", 2}, {"context", 2}});
  EXPECT_FALSE(SlowRanks(split, 0).compares());
  SlowRanks slow(both, 0);
  std::vector<RankTimes> times = Alike(4);
  times[1].busy_ns[kBackward] = times[3].busy_ns[kBackward] = 150;  // they see more keys
  EXPECT_TRUE(slow.Find(1, times).empty());
  times[3].busy_ns[kBackward] = 300;
  const std::vector<trace::SlowRank> found = slow.Find(2, times);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 3);
}

TEST(BusyTimesTest, AreOfTheStepsSinceTheLastLook) {
  const plan::Plan plan = executor::TwoRanks();
  const KernelRegistry kernels = executor::TestKernels();
  executor::SampleSource source;
  auto processes = Processes::Create({});
  ASSERT_TRUE(processes.ok()) << processes.status();
  auto cluster = executor::LocalCluster::Create(plan, {.kernels = &kernels, .source = &source, .seed = 1});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_TRUE((*cluster)->Initialize().ok());
  ASSERT_TRUE((*cluster)->Step(0).ok());
  BusyTimes busy(**cluster);
  const auto gathered = [&] {
    busy.Take();
    auto times = busy.Gather(**processes);
    EXPECT_TRUE(times.ok()) << times.status();
    return times.ok() ? *times : std::vector<RankTimes>();
  };
  for (const RankTimes& rank : gathered()) EXPECT_EQ(rank.busy_ns, std::vector<int64_t>(5, 0)) << "no step since";
  ASSERT_TRUE((*cluster)->Step(1).ok());
  const std::vector<RankTimes> times = gathered();
  ASSERT_EQ(times.size(), 2u);
  for (const RankTimes& rank : times) {
    EXPECT_NE(rank.host, "");
    for (const int64_t ns : rank.busy_ns) EXPECT_GT(ns, 0);
  }
}

}  // namespace
}  // namespace weft::run
