// Where ranks lie: stages outermost, within each the axes of its mesh.
#include <algorithm>
#include <map>

#include "gtest/gtest.h"
#include "runtime/plan/layout.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Ranks = std::vector<int32_t>;

plan::Plan Compiled(const std::vector<std::string>& overrides) {
  absl::StatusOr<plan::Plan> plan = CompileJob("tests/pipeline/deep.job", overrides);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : plan::Plan();
}

const plan::Placement& PlacementOf(const plan::Plan& plan, int stage) {
  return plan.placements(plan.stages(stage).placement());
}

Ranks RanksOf(const plan::Placement& placement) { return Ranks(placement.ranks().begin(), placement.ranks().end()); }

int32_t AxisOf(const plan::Placement& placement, const std::string& name) {
  for (int axis = 0; axis < placement.axes_size(); ++axis) {
    if (placement.axes(axis).name() == name) return axis;
  }
  ADD_FAILURE() << "no axis " << name;
  return -1;
}

// The groups of ranks that differ on an axis alone, each once.
std::vector<Ranks> GroupsOver(const plan::Placement& placement, const std::string& axis) {
  std::vector<Ranks> groups;
  for (int index = 0; index < placement.ranks_size(); ++index) {
    Ranks group;
    for (int64_t member : plan::GroupOf(placement, {AxisOf(placement, axis)}, index)) {
      group.push_back(placement.ranks(static_cast<int>(member)));
    }
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

// The names of the axes over which a stage reduces, with how many collectives do.
std::map<std::string, int> CollectivesOf(const plan::Plan& plan, int stage) {
  std::map<std::string, int> counts;
  for (const plan::Actor& actor : plan.stages(stage).actors()) {
    for (const plan::Collective& collective : actor.collectives()) {
      for (int32_t axis : collective.axes()) ++counts[PlacementOf(plan, stage).axes(axis).name()];
    }
  }
  return counts;
}

TEST(GroupsTest, DataTensorAndPipelineOverEightRanks) {
  const plan::Plan plan = Compiled({"dist.data=2", "dist.tensor=2", "dist.pipeline=2"});
  ASSERT_EQ(plan.stages_size(), 2);
  EXPECT_EQ(RanksOf(PlacementOf(plan, 0)), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(RanksOf(PlacementOf(plan, 1)), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(GroupsOver(PlacementOf(plan, 0), "data"), (std::vector<Ranks>{{0, 2}, {1, 3}}));
  EXPECT_EQ(GroupsOver(PlacementOf(plan, 0), "tensor"), (std::vector<Ranks>{{0, 1}, {2, 3}}));
  EXPECT_EQ(GroupsOver(PlacementOf(plan, 1), "data"), (std::vector<Ranks>{{4, 6}, {5, 7}}));
  EXPECT_EQ(GroupsOver(PlacementOf(plan, 1), "tensor"), (std::vector<Ranks>{{4, 5}, {6, 7}}));
  for (int stage = 0; stage < 2; ++stage) {
    const std::map<std::string, int> counts = CollectivesOf(plan, stage);
    EXPECT_GT(counts.count("data"), 0u) << stage;
    EXPECT_GT(counts.count("tensor"), 0u) << stage;
  }
  EXPECT_GT(plan.transfers_size(), 0);
}

TEST(GroupsTest, AMeshAStage) {
  const plan::Plan plan = Compiled({"dist.pipeline=2", "pipeline={stages: {tensor: 2} stages: {data: 4}}"});
  ASSERT_EQ(plan.stages_size(), 2);
  EXPECT_EQ(RanksOf(PlacementOf(plan, 0)), (Ranks{0, 1}));
  EXPECT_EQ(RanksOf(PlacementOf(plan, 1)), (Ranks{2, 3, 4, 5}));
  EXPECT_EQ(GroupsOver(PlacementOf(plan, 0), "tensor"), (std::vector<Ranks>{{0, 1}}));
  EXPECT_EQ(GroupsOver(PlacementOf(plan, 1), "data"), (std::vector<Ranks>{{2, 3, 4, 5}}));
}

}  // namespace
}  // namespace weft::tests
