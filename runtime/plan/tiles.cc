#include "runtime/plan/tiles.h"

#include <algorithm>

namespace weft::plan {
namespace {

// A tile and the ranks that hold it.
struct Holders {
  Tile tile;
  std::vector<int64_t> ranks;
};

std::vector<Holders> HoldersOf(const Placement& placement, const Buffer& buffer) {
  std::vector<Holders> all;
  for (int64_t r = 0; r < RankCount(placement); ++r) {
    const Tile tile = TileOf(placement, buffer, Coordinates(placement, r));
    const auto found = std::find_if(all.begin(), all.end(), [&](const Holders& h) { return h.tile == tile; });
    if (found != all.end()) {
      found->ranks.push_back(r);
    } else {
      all.push_back({tile, {r}});
    }
  }
  return all;
}

// Empty dims where the two have nothing in common.
Tile Intersection(const Tile& a, const Tile& b) {
  Tile common;
  for (size_t d = 0; d < a.dims.size(); ++d) {
    const int64_t begin = std::max(a.origin[d], b.origin[d]);
    const int64_t end = std::min(a.origin[d] + a.dims[d], b.origin[d] + b.dims[d]);
    common.origin.push_back(begin);
    common.dims.push_back(std::max<int64_t>(end - begin, 0));
  }
  return common;
}

}  // namespace

std::vector<Piece> PiecesOf(const Plan& plan, const Transfer& transfer) {
  const Stage& source = plan.stages(transfer.source_stage());
  const Stage& target = plan.stages(transfer.target_stage());
  const Placement& placement = plan.placements(target.placement());
  const std::vector<Holders> sources =
      HoldersOf(plan.placements(source.placement()), source.buffers(transfer.source_buffer()));
  const bool alike = RankCount(placement) == RankCount(plan.placements(source.placement()));
  std::vector<Piece> pieces;
  for (int64_t r = 0; r < RankCount(placement); ++r) {
    const Tile wanted = TileOf(placement, target.buffers(transfer.target_buffer()), Coordinates(placement, r));
    for (const Holders& holders : sources) {
      Tile common = Intersection(holders.tile, wanted);
      if (common.elements() == 0) continue;
      const bool own = alike && std::binary_search(holders.ranks.begin(), holders.ranks.end(), r);
      pieces.push_back({own ? r : holders.ranks[r % holders.ranks.size()], r, std::move(common)});
    }
  }
  return pieces;
}

bool IsStraight(const Plan& plan, const Transfer& transfer) {
  const auto ranks = [&](int32_t s) { return RankCount(plan.placements(plan.stages(s).placement())); };
  if (ranks(transfer.source_stage()) != ranks(transfer.target_stage())) return false;
  const std::vector<Piece> pieces = PiecesOf(plan, transfer);
  return std::all_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.source == piece.target; });
}

}  // namespace weft::plan
