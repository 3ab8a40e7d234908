// Which rank sends which part of a tensor to which rank of another stage.
#ifndef WEFT_RUNTIME_PLAN_TILES_H_
#define WEFT_RUNTIME_PLAN_TILES_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/layout.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// A part of the global tensor that goes from one rank to another. Ranks are
// indices within their stage's placement.
struct Piece {
  int64_t source = 0;
  int64_t target = 0;
  Tile tile;
};

// The pieces of a validated plan's transfer: for every target rank, what its
// tile shares with each tile of the source. Where ranks of the source hold
// copies of a tile, it comes from the one with the target's index if there are
// as many ranks; else the target ranks take turns among them. In the order of the
// target ranks, then of the source tiles.
std::vector<Piece> PiecesOf(const Plan& plan, const Transfer& transfer);

// True if each rank receives from the one of its own index alone, and sends to it
// alone. Then what a rank gets back is made after all that it has sent. If not,
// some tile may come back while another one is still being sent.
bool IsStraight(const Plan& plan, const Transfer& transfer);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_TILES_H_
