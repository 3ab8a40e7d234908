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
    met_.clear();
    for (int32_t other : by_begin_) {
      if (offsets_[other] >= end) break;
      if (begin < EndOf(other) && blocks_.Conflict(block, other)) met_.push_back(other);
    }
    std::sort(met_.begin(), met_.end());
    for (int32_t other : met_) Evict(other);
    Place(block, begin);
  }
  return true;
}

void Eviction::Place(int32_t block, int64_t offset) {
  offsets_[block] = offset;
  Insert(block, [&](int32_t b) { return offsets_[b]; }, by_begin_);
  Insert(block, [&](int32_t b) { return EndOf(b); }, by_end_);
}

void Eviction::Evict(int32_t block) {
  Remove(block, [&](int32_t b) { return offsets_[b]; }, by_begin_);
  Remove(block, [&](int32_t b) { return EndOf(b); }, by_end_);
  offsets_[block] = kWaits;
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

// The cost of an offset changes where the block begins to meet another one, or no longer meets it: it is least right
// before the former or at the latter. Of several with the least cost, any. Both kinds of changes are in order already,
// so nothing is sorted; those in the way are picked without a branch to guess.
int64_t Eviction::CheapestOffset(int32_t block, int64_t top) {
  const int64_t bytes = bytes_[block], last = top - bytes;
  const uint64_t* conflicts = blocks_.RowOf(block);
  const auto in_the_way = [&](uint32_t other) { return conflicts[other / 64] >> (other % 64) & 1; };
  size_t meets = 0, leaves = 0;
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
  size_t met = 0, left = 0;
  int64_t cost = 0;  // at `bottom_`
  for (; met < meets && meets_[met].offset <= bottom_; ++met) cost += meets_[met].cost;
  int64_t cheapest = bottom_, least = cost;
  uint32_t alike = 1;
  const auto consider = [&](int64_t offset) {
    if (cost > least || offset == cheapest) return;
    alike = cost < least ? 1 : alike + 1;
    least = cost;
    if (random_() % alike == 0) cheapest = offset;
  };
  // Behind the last ones is a change that never comes.
  meets_[meets].offset = leaves_[leaves].offset = last + 1;
  while (met < meets || left < leaves) {
    const int64_t offset = std::min(meets_[met].offset, leaves_[left].offset);
    consider(offset - 1);
    for (; met < meets && meets_[met].offset == offset; ++met) cost += meets_[met].cost;
    for (; left < leaves && leaves_[left].offset == offset; ++left) cost -= leaves_[left].cost;
    consider(offset);
  }
  consider(last);
  return cheapest;
}

}  // namespace weft::compiler
