#include "runtime/measure/figures.h"

#include <gtest/gtest.h>

namespace weft::plan {
namespace {

// Two stages of two ranks; a step of 2 s with 1,000 tokens and 4e9 FLOPs, on devices of 1e9 FLOP/s and 4,000 bytes.
Plan TwoStages() {
  Plan plan;
  for (int stage = 0; stage < 2; ++stage) {
    Placement& placement = *plan.add_placements();
    placement.add_ranks(2 * stage);
    placement.add_ranks(2 * stage + 1);
    plan.add_stages()->set_placement(stage);
  }
  plan.mutable_stages(0)->set_arena_bytes(1000);
  plan.mutable_stages(1)->set_arena_bytes(3000);
  plan.mutable_header()->set_tokens_per_step(1000);
  plan.mutable_header()->set_flops_per_step(4e9);
  plan.mutable_header()->mutable_cluster()->mutable_device()->set_contraction_flops(1e9);
  plan.mutable_header()->mutable_cluster()->mutable_device()->set_memory_bytes(4000);
  plan.mutable_prediction()->set_step_s(2);
  plan.mutable_prediction()->set_bubble_fraction(0.25);
  plan.mutable_prediction()->set_exposed_comm_s(0.125);
  return plan;
}

TEST(FiguresTest, FollowFromPlanPredictionAndCluster) {
  const Figures figures = FiguresOf(TwoStages());
  EXPECT_EQ(figures.devices, 4);
  EXPECT_EQ(figures.step_s, 2);
  EXPECT_EQ(figures.tokens_per_s, 500);
  EXPECT_EQ(figures.tokens_per_s_device, 125);
  EXPECT_EQ(figures.mfu, 0.5);
  EXPECT_EQ(figures.bubble_fraction, 0.25);
  EXPECT_EQ(figures.exposed_comm_s, 0.125);
  EXPECT_EQ(figures.peak_bytes, 3000);
  EXPECT_EQ(figures.headroom_bytes, 1000);
  EXPECT_EQ(figures.headroom_fraction, 0.25);
}

TEST(FiguresTest, HeadroomOfWhatDoesNotFitIsNegative) {
  Plan plan = TwoStages();
  plan.mutable_header()->mutable_cluster()->mutable_device()->set_memory_bytes(2000);
  EXPECT_EQ(FiguresOf(plan).headroom_bytes, -1000);
  EXPECT_EQ(FiguresOf(plan).headroom_fraction, -0.5);
}

TEST(FiguresTest, SayNothingOfWhatIsNotKnown) {
  Plan plan = TwoStages();
  plan.mutable_header()->clear_cluster();
  plan.mutable_header()->clear_tokens_per_step();
  Figures figures = FiguresOf(plan);
  EXPECT_FALSE(figures.tokens_per_s.has_value());
  EXPECT_FALSE(figures.tokens_per_s_device.has_value());
  EXPECT_FALSE(figures.mfu.has_value());
  EXPECT_FALSE(figures.headroom_bytes.has_value());
  EXPECT_FALSE(figures.headroom_fraction.has_value());
  plan = TwoStages();
  plan.clear_prediction();
  figures = FiguresOf(plan);
  EXPECT_FALSE(figures.tokens_per_s.has_value());
  EXPECT_FALSE(figures.mfu.has_value());
}

}  // namespace
}  // namespace weft::plan
