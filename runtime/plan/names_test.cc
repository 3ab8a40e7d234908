#include "runtime/plan/names.h"

#include "gtest/gtest.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/layout.h"

namespace weft::plan {
namespace {

// The values are compared where they are declared; here, what is said of them.
TEST(NamesTest, ElementTypesAreTheRuntimes) {
  for (const ElementType& row : kElementTypes) {
    const auto dtype = static_cast<DType>(row.type);
    EXPECT_EQ(TypeOf(dtype), row.type);
    EXPECT_EQ(NameOf(dtype), row.name);
    EXPECT_EQ(ElementBytes(dtype), static_cast<int64_t>(row.bytes));
  }
  for (const int damaged : {0, -1, DType_ARRAYSIZE}) {
    EXPECT_EQ(TypeOf(static_cast<DType>(damaged)), weft::DType::kInvalid);
    EXPECT_EQ(NameOf(static_cast<DType>(damaged)), "invalid");
    EXPECT_EQ(ElementBytes(static_cast<DType>(damaged)), 0);
  }
}

TEST(NamesTest, CollectivesAreCalledAsInTheTable) {
  for (int kind = 0; kind < Collective::Kind_ARRAYSIZE; ++kind) {
    EXPECT_EQ(NameOf(static_cast<Collective::Kind>(kind)), weft::NameOf(KindOf(static_cast<Collective::Kind>(kind))));
  }
  EXPECT_EQ(NameOf(static_cast<Collective::Kind>(Collective::Kind_ARRAYSIZE)), "invalid");
}

TEST(NamesTest, KindsAreCalledAsInTheProto) {
  EXPECT_EQ(NameOf(Buffer::OPTIMIZER), "optimizer");
  EXPECT_EQ(NameOf(Stream::COMMUNICATION), "communication");
  EXPECT_EQ(NameOf(static_cast<Buffer::Kind>(Buffer::Kind_ARRAYSIZE)), "invalid");
}

// Adds a stage of one mesh axis of `size` ranks; without one if it is 1.
void AddStage(Plan* plan, int size) {
  plan->add_stages()->set_placement(plan->placements_size());
  Placement& placement = *plan->add_placements();
  for (int rank = 0; rank < size; ++rank) placement.add_ranks(rank);
  if (size == 1) return;
  placement.add_axes()->set_name("data");
  placement.mutable_axes(0)->set_size(size);
}

TEST(NamesTest, SayHowManyRanksThereAreAndHowTheyLie) {
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

TEST(NamesTest, SayWhatIsComputedAgainAndWhatLiesBelowMeanwhile) {
  Header header;
  header.set_training(true);
  EXPECT_EQ(RecomputeText(header), "");
  header.mutable_job()->mutable_recompute()->set_policy(Recompute::AUTO);
  EXPECT_EQ(RecomputeText(header), "AUTO: nothing, for the model has no layers");
  for (const char* scope : {"h.0", "h.1", "h.2"}) header.add_recompute()->set_scope(scope);
  header.mutable_recompute(1)->set_offload(true);
  EXPECT_EQ(RecomputeText(header), "AUTO: nothing, below the device what 1 of 3 layers keep");
  header.mutable_recompute(0)->set_policy(Recompute::FULL);
  header.mutable_recompute(2)->set_offload(true);
  header.mutable_job()->mutable_recompute()->clear_policy();
  EXPECT_EQ(RecomputeText(header), "");
  *header.mutable_job()->mutable_recompute()->mutable_layers() = header.recompute();
  EXPECT_EQ(RecomputeText(header), "FULL in h.0, below the device what 2 of 3 layers keep");
}

}  // namespace
}  // namespace weft::plan
