#include "compiler/memory/eviction.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::compiler {
namespace {

// Each block in the way counts as so many looks of a first fit.
constexpr int64_t kLooks = 8;

// Where a block is, or goes, in `order`, which is ascending by a key. Blocks of one key come in any order.
template <typename KeyOf>
void Insert(int32_t block, KeyOf key_of, std::vector<int32_t>& order) {
  order.insert(std::upper_bound(order.begin(), order.end(), key_of(block),
                                [&](int64_t key, int32_t other) { return key < key_of(other); }),
               block);
}
template <typename KeyOf>
void Remove(int32_t block, KeyOf key_of, std::vector<int32_t>& order) {
  const auto first = std::lower_bound(order.begin(), order.end(), key_of(block),
                                      [&](int32_t other, int64_t key) { return key_of(other) < key; });
  order.erase(std::find(first, order.end(), block));
}

}  // namespace

Eviction::Eviction(const Blocks& blocks, std::vector<int64_t> offsets, uint32_t seed)
    : blocks_(blocks),
      offsets_(std::move(offsets)),
      in_the_way_(blocks.size(), 0),
      lies_(blocks.size(), false),
      meets_(blocks.size() + 1),
      leaves_(blocks.size() + 1),
      random_(seed) {
  const size_t words = (static_cast<size_t>(blocks.size()) + 63) / 64;
  std::vector<uint64_t> movable(words, 0);
  for (int32_t b = 0; b < blocks.size(); ++b) {
    bytes_.push_back(blocks[b].bytes);
    costs_.push_back(blocks[b].bytes);
    if (blocks.IsAlways(b)) {
      bottom_ += blocks[b].bytes;
      continue;
    }
    by_begin_.push_back(b);
    lies_[b] = true;
    movable[b / 64] |= uint64_t{1} << b % 64;
  }
  for (int32_t b : by_begin_) {
    for (size_t w = 0; w < words; ++w) in_the_way_[b] += std::popcount(blocks.RowOf(b)[w] & movable[w]);
  }
  by_end_ = by_begin_;
  std::sort(by_begin_.begin(), by_begin_.end(), [&](int32_t a, int32_t b) { return offsets_[a] < offsets_[b]; });
  std::sort(by_end_.begin(), by_end_.end(), [&](int32_t a, int32_t b) { return EndOf(a) < EndOf(b); });
}

bool Eviction::Fit(int64_t top, int64_t* effort) {
  for (int32_t b = 0; b < blocks_.size(); ++b) {
    if (!blocks_.IsAlways(b) && offsets_[b] != kWaits && EndOf(b) > top) Evict(b);
  }
  while (!waiting_.empty()) {
    if (*effort <= 0) return false;
    const int32_t block = TakeLargest();
    *effort -= kLooks * (in_the_way_[block] + 1);
    if (bottom_ + bytes_[block] > top) return false;
    const int64_t begin = CheapestOffset(block, top), end = begin + bytes_[block];
    FindMeeting(block, begin, end);
    for (int32_t other : met_) Evict(other);
    Place(block, begin);
  }
  return true;
}

void Eviction::Place(int32_t block, int64_t offset) {
  offsets_[block] = offset;
  lies_[block] = true;
  Insert(block, [&](int32_t b) { return offsets_[b]; }, by_begin_);
  Insert(block, [&](int32_t b) { return EndOf(b); }, by_end_);
}

void Eviction::Evict(int32_t block) {
  Remove(block, [&](int32_t b) { return offsets_[b]; }, by_begin_);
  Remove(block, [&](int32_t b) { return EndOf(b); }, by_end_);
  offsets_[block] = kWaits;
  lies_[block] = false;
  costs_[block] += bytes_[block];
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

bool Eviction::HasFew(int32_t block) const {
  constexpr int64_t kFew = 8;  // sorting one costs as much as so many looks at what lies somewhere
  return in_the_way_[block] * kFew < static_cast<int64_t>(by_begin_.size());
}

// Those in the way of a block at [begin, end), ascending, to `met_`.
void Eviction::FindMeeting(int32_t block, int64_t begin, int64_t end) {
  met_.clear();
  if (HasFew(block)) {
    blocks_.ForEachInTheWay(block, [&](int32_t other) {
      if (lies_[other] && offsets_[other] < end && begin < EndOf(other)) met_.push_back(other);
    });
    return;
  }
  for (int32_t other : by_begin_) {
    if (offsets_[other] >= end) break;
    if (begin < EndOf(other) && blocks_.Conflict(block, other)) met_.push_back(other);
  }
  std::sort(met_.begin(), met_.end());
}

// Where a block begins to meet others, and where it no longer meets them, both ascending, up to `last` and one more
// behind it.
void Eviction::FindChanges(int32_t block, int64_t last) {
  const int64_t bytes = bytes_[block];
  size_t meets = 0, leaves = 0;
  if (HasFew(block)) {
    blocks_.ForEachInTheWay(block, [&](int32_t other) {
      if (!lies_[other]) return;
      meets_[meets] = {offsets_[other] - bytes + 1, costs_[other]};
      meets += meets_[meets].offset <= last ? 1 : 0;
      leaves_[leaves] = {EndOf(other), costs_[other]};
      leaves += leaves_[leaves].offset <= last ? 1 : 0;
    });
    const auto lower = [](const Change& a, const Change& b) { return a.offset < b.offset; };
    std::sort(meets_.begin(), meets_.begin() + static_cast<ptrdiff_t>(meets), lower);
    std::sort(leaves_.begin(), leaves_.begin() + static_cast<ptrdiff_t>(leaves), lower);
  } else {
    // Both are in order already; those in the way are picked without a branch to guess.
    const uint64_t* conflicts = blocks_.RowOf(block);
    const auto in_the_way = [&](uint32_t other) { return conflicts[other / 64] >> (other % 64) & 1; };
    for (int32_t other : by_begin_) {
      const int64_t offset = offsets_[other] - bytes + 1;
      if (offset > last) break;
      meets_[meets] = {offset, costs_[other]};
      meets += in_the_way(other);
    }
    for (int32_t other : by_end_) {
      const int64_t offset = EndOf(other);
      if (offset > last) break;
      leaves_[leaves] = {offset, costs_[other]};
      leaves += in_the_way(other);
    }
  }
  meets_[meets].offset = leaves_[leaves].offset = last + 1;
}

// The cost of an offset changes where the block begins to meet another one, or no longer meets it: it is least right
// before the former or at the latter. Of several with the least cost, any.
int64_t Eviction::CheapestOffset(int32_t block, int64_t top) {
  const int64_t last = top - bytes_[block];
  FindChanges(block, last);
  auto meets = meets_.begin(), leaves = leaves_.begin();
  int64_t cost = 0;  // at `bottom_`
  for (; meets->offset <= bottom_; ++meets) cost += meets->cost;
  int64_t cheapest = bottom_, least = cost;
  uint32_t alike = 1;
  const auto consider = [&](int64_t offset) {
    if (cost > least || offset == cheapest) return;
    alike = cost < least ? 1 : alike + 1;
    least = cost;
    if (random_() % alike == 0) cheapest = offset;
  };
  for (int64_t offset; (offset = std::min(meets->offset, leaves->offset)) <= last;) {
    consider(offset - 1);
    for (; meets->offset == offset; ++meets) cost += meets->cost;
    for (; leaves->offset == offset; ++leaves) cost -= leaves->cost;
    consider(offset);
  }
  consider(last);
  return cheapest;
}

}  // namespace weft::compiler
