#include "compiler/passes/memory/packing.h"

namespace weft::compiler {
namespace {

// What a call costs beside looking at pairs, as work.
constexpr int64_t kOverhead = 500;

} // namespace

Packing::Packing(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members, int64_t bottom)
    : blocks_(blocks), members_(members.begin(), members.end()), bottom_(bottom), conflicts_(blocks, members),
      rank_(members.size(), 0) {
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
  for (size_t i = 0; i < packed_.placed.size() && count > 0; ++i) {
    int32_t member = packed_.placed[i];
    if (rank_[member] < count) {
      next_.placed.push_back(member);
      next_.offsets[member] = offset(member);
      arena = std::max(arena, end(member));
    }
  }
  return arena;
}

// At the lowest offset; returns where it ends.
int64_t Packing::place(int32_t member) {
  int64_t free = bottom_, bytes = block(member).bytes;
  auto it = next_.placed.begin();
  for (; it != next_.placed.end(); ++it) {
    if (!conflicts_.between(member, *it)) {
      continue;
    }
    if (next_.offsets[*it] - free >= bytes) {
      break;
    }
    free = std::max(free, next_.offsets[*it] + block(*it).bytes);
  }
  work_ += it - next_.placed.begin() + 1;
  next_.offsets[member] = free;
  auto place = std::upper_bound(next_.placed.begin(), next_.placed.end(), free,
                                [&](int64_t at, int32_t other) { return at < next_.offsets[other]; });
  next_.placed.insert(place, member);
  return free + bytes;
}

} // namespace weft::compiler
