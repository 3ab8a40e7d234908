#include "runtime/collective/share.h"

#include <algorithm>

namespace weft::collective {

int64_t WholeLines(int64_t bytes) {
  constexpr int64_t kLine = 64;
  return (bytes + kLine - 1) / kLine * kLine;
}

std::vector<Share> SharesOf(const std::vector<CollectiveSpec>& bundle, int64_t members, int64_t m) {
  int64_t whole = 0;
  for (const CollectiveSpec& spec : bundle) {
    if (!FactsOf(spec.kind).has_parts()) whole += WholeLines(spec.bytes());
  }
  const int64_t part = WholeLines((whole + members - 1) / members);
  std::vector<Share> shares;
  int64_t at = 0;
  for (const CollectiveSpec& spec : bundle) {
    const int64_t bytes = FactsOf(spec.kind).has_parts() ? 0 : spec.bytes();
    const int64_t begin = std::clamp<int64_t>(m * part - at, 0, bytes);
    shares.push_back({begin, std::clamp<int64_t>((m + 1) * part - at, begin, bytes)});
    at += WholeLines(bytes);
  }
  return shares;
}

ZigzagMoves ZigzagMovesOf(int64_t member, int64_t members, bool back) {
  const int64_t mirror = members - 1 - member;
  if (member == mirror) return {};
  // The later of two keeps what is late: behind what it gets.
  const bool later = member > mirror;
  return {.mirrors = true,
          .kept = {later && back ? 1 : 0, later && !back ? 1 : 0},
          .given = {later && back ? 0 : 1, !later && !back ? 0 : 1}};
}

BlockMove BlockMoveOf(const CollectiveSpec& spec, const std::vector<int64_t>& output_dims, int64_t members,
                      int64_t source, int64_t target) {
  const std::vector<int64_t> zero(spec.dims.size(), 0);
  BlockMove move{.dims = spec.dims, .from = zero, .to = zero};
  const CollectiveFacts& facts = FactsOf(spec.kind);
  if (facts.passes && (source + spec.by) % members != target) move.dims = zero;
  if (facts.mirrors) {
    const int64_t half = spec.dims[spec.dim] / 2;
    const ZigzagMoves moves = ZigzagMovesOf(source, members, spec.back);
    const ZigzagMoves::Half& of = target == source ? moves.kept : moves.given;
    if (target != source && target != members - 1 - source) {
      move.dims = zero;
    } else if (moves.mirrors) {
      move.dims[spec.dim] = half;
      move.from[spec.dim] = of.from * half;
      move.to[spec.dim] = of.to * half;
    }
  }
  if (facts.gathers) move.to[spec.dim] = source * spec.dims[spec.dim];
  if (facts.cuts) {
    const int cut = spec.cut_dim();
    move.dims[cut] = output_dims[cut];
    move.from[cut] = target * output_dims[cut];
  }
  return move;
}

}  // namespace weft::collective
