#include "runtime/plan/names.h"

#include <gtest/gtest.h>

namespace weft::plan {
namespace {

// Adds a stage of one mesh axis of `size` ranks; without one if it is 1.
void AddStage(Plan* plan, int size) {
  plan->add_stages()->set_placement(plan->placements_size());
  Placement& placement = *plan->add_placements();
  for (int rank = 0; rank < size; ++rank) placement.add_ranks(rank);
  if (size == 1) return;
  placement.add_axes()->set_name("data");
  placement.mutable_axes(0)->set_size(size);
}

TEST(Names, SayHowManyRanksThereAreAndHowTheyLie) {
  Plan one, mesh, stages, unlike;
  AddStage(&one, 1);
  EXPECT_EQ(RanksAndMeshText(one), "1 rank");
  AddStage(&mesh, 2);
  EXPECT_EQ(RanksAndMeshText(mesh), "2 ranks (data = 2)");
  AddStage(&stages, 1);
  AddStage(&stages, 1);
  EXPECT_EQ(RanksAndMeshText(stages), "2 ranks (2 stages of one rank)");
  AddStage(&unlike, 4);
  AddStage(&unlike, 1);
  EXPECT_EQ(RanksAndMeshText(unlike), "5 ranks (2 stages of data = 4, one rank)");
}

}  // namespace
}  // namespace weft::plan
