#include "compiler/memory/offset_search.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "compiler/memory/eviction.h"
#include "runtime/plan/layout.h"

namespace weft::compiler {
namespace {

// What moves as a whole: first frames, and blocks of at least such a part of the bytes that are shared; then smaller
// blocks too. Example: the last stage of GPT-2 124M has frames of 28 blocks, and logits of a third of the arena.
constexpr int64_t kParts[] = {8, 32, 128};

// A block that lives for such a part of the step meets many frames, such as a gradient's sum. It moves likewise even if
// it is smaller by such a factor.
constexpr int64_t kLong = 8;
constexpr int64_t kSmaller = 32;

// A block is a giant from such a part of the arena on.
constexpr int64_t kGiant = 16;

// So often what ends in the highest one of so many parts of the arena goes ahead.
constexpr int kPromotions = 8;
constexpr int64_t kPromoted = 16;

// An eviction aims at this much less of what the arena has too much: low enough to get on, and near enough to reach.
constexpr int64_t kStep = 4;

// The blocks by a key; those of one key as they were.
template <typename KeyOf>
std::vector<int32_t> Sorted(const std::vector<int32_t>& blocks, KeyOf key_of) {
  std::vector<std::pair<decltype(key_of(0)), int32_t>> keyed;
  for (size_t i = 0; i < blocks.size(); ++i) keyed.push_back({key_of(blocks[i]), static_cast<int32_t>(i)});
  std::sort(keyed.begin(), keyed.end());
  std::vector<int32_t> sorted;
  for (const auto& [_, i] : keyed) sorted.push_back(blocks[i]);
  return sorted;
}

}  // namespace

// Blocks that move as a whole.
struct OffsetSearch::Groups {
  std::vector<int32_t> group;  // a block each; -1: it moves alone, when the others lie
  int32_t count = 0;
};

OffsetSearch::OffsetSearch(const Blocks& blocks) : blocks_(blocks), offsets_(blocks.size(), 0), places_(blocks.size()) {
  const auto put = [&](int32_t b) {
    offsets_[b] = bottom_;
    bottom_ += blocks[b].bytes;
  };
  // State first: so it lies at the same places in plans that keep the same.
  for (int32_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].state) put(b);
  }
  for (int32_t b = 0; b < blocks.size(); ++b) {
    if (!blocks.IsAlways(b)) {
      movable_.push_back(b);
    } else if (!blocks[b].state) {
      put(b);
    }
  }
  std::stable_sort(movable_.begin(), movable_.end(),
                   [&](int32_t a, int32_t b) { return blocks[a].bytes > blocks[b].bytes; });
}

void OffsetSearch::Start(int64_t enough) {
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  const auto by_size = [&](int32_t b) { return Key(1, -blocks_[b].bytes, 0); };
  const auto in_time = [&](int32_t b) {
    return blocks_[b].unit >= 0 ? Key(0, blocks_[b].life[0].first, 0) : by_size(b);
  };
  Try(movable_);
  if (arena_ <= enough) return;
  Try(Sorted(movable_, [&](int32_t b) { return -blocks_[b].bytes / plan::kAlignment * blocks_.LengthOf(b); }));
  if (arena_ <= enough) return;
  Try(Sorted(movable_, [&](int32_t b) {
    return blocks_[b].unit >= 0 ? Key(0, blocks_[b].unit, -blocks_[b].bytes) : by_size(b);
  }));
  if (arena_ <= enough) return;
  Try(Sorted(movable_, in_time));
  if (arena_ <= enough) return;
  // The few that leave holes which nothing fills, such as logits, before all.
  const int64_t giant = arena_ / kGiant;
  Try(Sorted(movable_,
             [&](int32_t b) { return blocks_[b].bytes > giant ? Key(-1, -blocks_[b].bytes, 0) : in_time(b); }));
  PromoteHighest(enough);
}

// What ends in the highest part goes first, again and again.
void OffsetSearch::PromoteHighest(int64_t enough) {
  std::vector<int32_t> order = best_;
  PlaceAll(order);
  for (int round = 0; round < kPromotions && arena_ > enough; ++round) {
    std::vector<bool> high(blocks_.size(), false);
    for (int32_t b : placed_) high[b] = places_[b].end > arena_ - arena_ / kPromoted;
    std::stable_partition(order.begin(), order.end(), [&](int32_t b) { return high[b]; });
    // Also what is no better lies somewhere: the next round goes on from there.
    Keep(order, PlaceAll(order));
  }
}

void OffsetSearch::Try(const std::vector<int32_t>& order) { Keep(order, PlaceAll(order, arena_)); }

void OffsetSearch::Keep(const std::vector<int32_t>& order, int64_t arena) {
  if (arena >= arena_) return;
  arena_ = arena;
  for (int32_t b : placed_) offsets_[b] = places_[b].begin;
  best_ = order;
}

int64_t OffsetSearch::PlaceAll(const std::vector<int32_t>& order, int64_t most) {
  int64_t arena = bottom_;
  placed_.clear();
  for (int32_t block : order) {
    arena = std::max(arena, PlaceOne(block));
    if (arena >= most) break;
  }
  return arena;
}

int64_t OffsetSearch::PlaceOne(int32_t block) {
  constexpr size_t kAtATime = 128;
  const uint64_t* conflicts = blocks_.RowOf(block);
  const int64_t bytes = blocks_[block].bytes;
  int64_t begin = bottom_;
  bool found = false;
  for (size_t first = 0; first < placed_.size() && !found; first += kAtATime) {
    // Those in the way, picked without a branch to guess.
    std::array<int32_t, kAtATime> met;
    size_t count = 0;
    for (size_t i = first; i < std::min(placed_.size(), first + kAtATime); ++i) {
      const auto other = static_cast<uint32_t>(placed_[i]);
      met[count] = placed_[i];
      count += conflicts[other / 64] >> (other % 64) & 1;
    }
    for (size_t i = 0; i < count && !found; ++i) {
      const Place& other = places_[met[i]];
      found = other.begin - begin >= bytes;
      if (!found) begin = std::max(begin, other.end);
    }
  }
  const auto place = std::upper_bound(placed_.begin(), placed_.end(), begin,
                                      [&](int64_t at, int32_t other) { return at < places_[other].begin; });
  placed_.insert(place, block);
  places_[block] = {begin, begin + bytes};
  return begin + bytes;
}

void OffsetSearch::Search(int64_t enough, int64_t effort, uint32_t seed) {
  const int64_t share = effort / static_cast<int64_t>(std::size(kParts) + 1);
  for (int64_t part : kParts) {
    if (arena_ > enough) SearchGroups(GroupsOf(part), enough, share, seed++);
  }
  Evict(enough, share, seed);
}

OffsetSearch::Groups OffsetSearch::GroupsOf(int64_t part) const {
  Groups groups{std::vector<int32_t>(blocks_.size(), -1)};
  std::map<std::pair<int32_t, int32_t>, int32_t> frames;
  const int64_t large = (arena_ - bottom_) / part;
  for (int32_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_.IsAlways(b)) continue;
    const Block& block = blocks_[b];
    const bool is_long = blocks_.LengthOf(b) >= blocks_.moments() / kLong;
    if (block.unit >= 0 && block.bytes < large) {
      const auto [it, added] = frames.emplace(std::pair(block.unit, block.until), groups.count);
      groups.count += added;
      groups.group[b] = it->second;
    } else if (block.bytes >= large || (is_long && block.bytes >= large / kSmaller)) {
      groups.group[b] = groups.count++;
    }
  }
  return groups;
}

// Places the groups as if they were blocks, then the blocks in the order in which their groups lie. A block then ends
// where it does within its group, or lower.
void OffsetSearch::SearchGroups(const Groups& groups, int64_t enough, int64_t effort, uint32_t seed) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  const Blocks joined(blocks_, groups.group, groups.count);
  OffsetSearch search(joined);
  // As their lowest blocks lie now is one order more.
  std::vector<int64_t> low(groups.count, kLast);
  for (int32_t b : movable_) {
    if (groups.group[b] >= 0) low[groups.group[b]] = std::min(low[groups.group[b]], offsets_[b]);
  }
  search.Start(0);
  search.Try(Sorted(search.movable_, [&](int32_t g) { return low[g]; }));
  search.Evict(enough - bottom_, effort, seed);
  Try(Sorted(movable_, [&](int32_t b) { return groups.group[b] < 0 ? kLast : search.offsets_[groups.group[b]]; }));
}

void OffsetSearch::Evict(int64_t enough, int64_t effort, uint32_t seed) {
  if (arena_ <= enough) return;
  Eviction eviction(blocks_, offsets_, seed);
  while (arena_ > enough) {
    const int64_t step = std::max(plan::kAlignment, (arena_ - enough) / kStep / plan::kAlignment * plan::kAlignment);
    if (!eviction.Fit(arena_ - step, &effort)) return;
    offsets_ = eviction.offsets();
    arena_ = bottom_;
    for (int32_t b : movable_) arena_ = std::max(arena_, offsets_[b] + blocks_[b].bytes);
  }
}

}  // namespace weft::compiler
