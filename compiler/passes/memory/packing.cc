#include "compiler/passes/memory/packing.h"

namespace weft::compiler {
namespace {

// What a call costs beside looking at pairs, as work.
constexpr int64_t kOverhead = 500;

} // namespace

Packing::Packing(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members, int64_t bottom)
    : blocks_(blocks), members_(members.begin(), members.end()), bottom_(bottom), conflicts_(blocks, members),
      rank_(members.size(), 0) {
  for (int32_t m = 0; m < size(); ++m) {
    bytes_.push_back(block(m).bytes);
  }
  packed_.offsets.assign(members.size(), 0);
  next_.offsets = packed_.offsets;
}

std::optional<int64_t> Packing::pack(llvm::ArrayRef<int32_t> order, int64_t limit, size_t same) {
  work_ += kOverhead + 4 * int64_t(size());
  int64_t arena = keepFirst(same);
  for (size_t i = same; i < order.size() && arena <= limit; ++i) {
    arena = std::max(arena, place(order[i]));
  }
  if (arena > limit) {
    return std::nullopt;
  }
  std::swap(packed_, next_);
  for (size_t i = same; i < order.size(); ++i) {
    rank_[order[i]] = i;
  }
  return arena;
}

int64_t Packing::keepFirst(size_t count) {
  int64_t arena = bottom_;
  next_.placed.clear();
  for (const Placed &it : packed_.placed) {
    if (rank_[it.member] < count) {
      next_.placed.push_back(it);
      next_.offsets[it.member] = it.offset;
      arena = std::max(arena, it.end);
    }
  }
  return arena;
}

// At the lowest offset; returns where it ends.
int64_t Packing::place(int32_t member) {
  int64_t free = bottom_, bytes = bytes_[member];
  llvm::ArrayRef<uint64_t> conflicts = conflicts_.of(member);
  auto it = next_.placed.begin();
  for (; it != next_.placed.end(); ++it) {
    // A mask, so that there is no branch to guess.
    int64_t inTheWay = -int64_t(conflicts[uint32_t(it->member) / 64] >> (uint32_t(it->member) % 64) & 1);
    if ((int64_t(it->offset - free >= bytes) & inTheWay) != 0) {
      break;
    }
    free = std::max(free, it->end & inTheWay);
  }
  work_ += it - next_.placed.begin() + 1;
  next_.offsets[member] = free;
  auto place = std::upper_bound(next_.placed.begin(), next_.placed.end(), free,
                                [](int64_t at, const Placed &other) { return at < other.offset; });
  next_.placed.insert(place, {free, free + bytes, member});
  return free + bytes;
}

} // namespace weft::compiler
