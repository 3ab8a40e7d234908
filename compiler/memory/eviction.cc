#include "compiler/memory/eviction.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::compiler {
namespace {

// The ends of a block in the way are sorted: that costs as much as so many looks of a first fit.
constexpr int64_t kLooks = 8;

}  // namespace

Eviction::Eviction(const Blocks& blocks, std::vector<int64_t> offsets, uint32_t seed)
    : blocks_(blocks), offsets_(std::move(offsets)), conflicts_(blocks.size()), random_(seed) {
  for (int32_t b = 0; b < blocks.size(); ++b) {
    costs_.push_back(blocks[b].bytes);
    if (blocks.IsAlways(b)) {
      bottom_ += blocks[b].bytes;
      continue;
    }
    for (int32_t other = 0; other < b; ++other) {
      if (blocks.IsAlways(other) || !blocks.Conflict(b, other)) continue;
      conflicts_[b].push_back(other);
      conflicts_[other].push_back(b);
    }
  }
}

bool Eviction::Fit(int64_t top, int64_t* effort) {
  for (int32_t b = 0; b < blocks_.size(); ++b) {
    if (!blocks_.IsAlways(b) && offsets_[b] != kWaits && offsets_[b] + blocks_[b].bytes > top) Evict(b);
  }
  while (!waiting_.empty()) {
    if (*effort <= 0) return false;
    const int32_t block = TakeLargest();
    *effort -= kLooks * static_cast<int64_t>(conflicts_[block].size() + 1);
    if (bottom_ + blocks_[block].bytes > top) return false;
    const int64_t begin = CheapestOffset(block, top), end = begin + blocks_[block].bytes;
    offsets_[block] = begin;
    for (int32_t other : conflicts_[block]) {
      if (offsets_[other] != kWaits && offsets_[other] < end && begin < offsets_[other] + blocks_[other].bytes) {
        Evict(other);
      }
    }
  }
  return true;
}

void Eviction::Evict(int32_t block) {
  offsets_[block] = kWaits;
  costs_[block] += blocks_[block].bytes;
  waiting_.push_back(block);
}

int32_t Eviction::TakeLargest() {
  const auto smaller = [&](int32_t a, int32_t b) { return blocks_[a].bytes < blocks_[b].bytes; };
  const auto largest = std::max_element(waiting_.begin(), waiting_.end(), smaller);
  const int32_t block = *largest;
  *largest = waiting_.back();
  waiting_.pop_back();
  return block;
}

// The cost of an offset changes where the block begins to meet another one, or no longer meets it: it is least right
// before the former or at the latter. Of several with the least cost, any.
int64_t Eviction::CheapestOffset(int32_t block, int64_t top) {
  const int64_t bytes = blocks_[block].bytes, last = top - bytes;
  int64_t cost = 0;  // at `bottom_`
  changes_.clear();
  for (int32_t other : conflicts_[block]) {
    if (offsets_[other] == kWaits) continue;
    const int64_t meets = offsets_[other] - bytes + 1, leaves = offsets_[other] + blocks_[other].bytes;
    if (meets <= bottom_) cost += costs_[other];
    if (meets > bottom_ && meets <= last) changes_.push_back({meets, costs_[other]});
    if (leaves <= last) changes_.push_back({leaves, -costs_[other]});
  }
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.offset < b.offset; });
  int64_t cheapest = bottom_, least = cost;
  uint32_t alike = 1;
  const auto consider = [&](int64_t offset) {
    if (cost > least || offset == cheapest) return;
    alike = cost < least ? 1 : alike + 1;
    least = cost;
    if (random_() % alike == 0) cheapest = offset;
  };
  for (size_t i = 0; i < changes_.size();) {
    const int64_t offset = changes_[i].offset;
    consider(offset - 1);
    for (; i < changes_.size() && changes_[i].offset == offset; ++i) cost += changes_[i].cost;
    consider(offset);
  }
  consider(last);
  return cheapest;
}

}  // namespace weft::compiler
