#include "runtime/plan/tiles.h"

#include <google/protobuf/text_format.h>

#include <map>
#include <set>

#include "gtest/gtest.h"

namespace weft::plan {
namespace {

// Two stages, ranks 0..3 and 4..7, both 2 x 2; the SBPs are given.
Plan PlanOf(const std::string& source, const std::string& target) {
  Plan plan;
  const std::string text = R"(
    placements { axes { name: "data" size: 2 } axes { name: "tensor" size: 2 } ranks: [0, 1, 2, 3] }
    placements { axes { name: "data" size: 2 } axes { name: "tensor" size: 2 } ranks: [4, 5, 6, 7] }
    stages { placement: 0 buffers { name: "x" dtype: F32 shape: [8, 4] )" +
                           source + R"( slots: 1 } }
    stages { placement: 1 buffers { name: "x" dtype: F32 shape: [8, 4] )" +
                           target + R"( slots: 1 } }
    transfers { source_stage: 0 source_buffer: 0 target_stage: 1 target_buffer: 0 })";
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
  return plan;
}

// Every element of every target tile comes exactly once, from a rank that has it.
std::vector<Piece> CheckedPieces(const Plan& plan) {
  const std::vector<Piece> pieces = PiecesOf(plan, plan.transfers(0));
  std::map<int64_t, std::set<std::pair<int64_t, int64_t>>> arrived;
  auto tile_of = [&](int stage, int64_t rank) {
    const Placement& placement = plan.placements(stage);
    return TileOf(placement, plan.stages(stage).buffers(0), Coordinates(placement, rank));
  };
  for (const Piece& piece : pieces) {
    const Tile source = tile_of(0, piece.source);
    for (int64_t i = piece.tile.origin[0]; i < piece.tile.origin[0] + piece.tile.dims[0]; ++i) {
      for (int64_t j = piece.tile.origin[1]; j < piece.tile.origin[1] + piece.tile.dims[1]; ++j) {
        EXPECT_TRUE(arrived[piece.target].insert({i, j}).second) << piece.target << ": " << i << " " << j;
        EXPECT_TRUE(i >= source.origin[0] && i < source.origin[0] + source.dims[0]);
        EXPECT_TRUE(j >= source.origin[1] && j < source.origin[1] + source.dims[1]);
      }
    }
  }
  for (int64_t r = 0; r < 4; ++r) EXPECT_EQ(static_cast<int64_t>(arrived[r].size()), tile_of(1, r).elements());
  return pieces;
}

TEST(TilesTest, LikeToLike) {
  const std::string split = "sbp { kind: SPLIT dim: 0 } sbp { kind: SPLIT dim: 1 }";
  const std::vector<Piece> pieces = CheckedPieces(PlanOf(split, split));
  ASSERT_EQ(pieces.size(), 4u);
  for (const Piece& piece : pieces) EXPECT_EQ(piece.source, piece.target);
}

TEST(TilesTest, CopiesComeFromTheRankOfTheSameIndex) {
  const std::string columns = "sbp {} sbp { kind: SPLIT dim: 1 }";
  const Plan plan = PlanOf(columns, columns);
  for (const Piece& piece : CheckedPieces(plan)) EXPECT_EQ(piece.source, piece.target);
  EXPECT_TRUE(IsStraight(plan, plan.transfers(0)));
}

TEST(TilesTest, IsStraightOnlyIfNobodyElseSends) {
  const std::string rows = "sbp { kind: SPLIT dim: 0 } sbp {}", copies = "sbp {} sbp {}";
  const Plan gathered = PlanOf(rows, copies), cut = PlanOf(copies, rows);
  EXPECT_FALSE(IsStraight(gathered, gathered.transfers(0)));
  EXPECT_TRUE(IsStraight(cut, cut.transfers(0)));
}

TEST(TilesTest, RowsToColumns) {
  EXPECT_EQ(CheckedPieces(PlanOf("sbp { kind: SPLIT dim: 0 } sbp { kind: SPLIT dim: 0 }",
                                 "sbp { kind: SPLIT dim: 1 } sbp { kind: SPLIT dim: 1 }"))
                .size(),
            16u);
}

TEST(TilesTest, CopiesTakeTurns) {
  std::set<int64_t> senders;
  for (const Piece& piece : CheckedPieces(PlanOf("sbp {} sbp {}", "sbp { kind: SPLIT dim: 0 } sbp {}"))) {
    senders.insert(piece.source);
  }
  EXPECT_EQ(senders, (std::set<int64_t>{0, 1, 2, 3}));
}

TEST(TilesTest, SplitToCopies) {
  EXPECT_EQ(CheckedPieces(PlanOf("sbp { kind: SPLIT dim: 0 } sbp {}", "sbp {} sbp {}")).size(), 8u);
}

}  // namespace
}  // namespace weft::plan
