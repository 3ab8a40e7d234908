#include "compiler/memory/placement.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "runtime/plan/layout.h"

namespace weft::compiler {
namespace {

// First the largest blocks are searched for an order, then more of them: those of at least such a part of the largest's
// bytes; 0: all. The others go into what holes there are, by size.
constexpr int64_t kParts[] = {16, 256, 0};
constexpr int64_t kMost = 2048;  // of them

// A block is a giant from such a part of the arena on.
constexpr int64_t kGiant = 16;

// So often what ends in the highest one of so many parts of the arena goes ahead.
constexpr int kRepairs = 8;
constexpr int64_t kRepaired = 16;

int64_t LengthOf(const Block& block) {
  int64_t length = 0;
  for (const Span& span : block.life) length += span.last - span.first + 1;
  return length;
}

}  // namespace

Placement::Placement(const Blocks& blocks) : blocks_(blocks), offsets_(blocks.size(), 0), rank_(blocks.size(), 0) {
  for (int32_t b = 0; b < blocks.size(); ++b) {
    if (!blocks.IsAlways(b)) {
      movable_.push_back(b);
      continue;
    }
    offsets_[b] = bottom_;
    bottom_ += blocks[b].bytes;
  }
  std::stable_sort(movable_.begin(), movable_.end(),
                   [&](int32_t a, int32_t b) { return blocks[a].bytes > blocks[b].bytes; });
}

void Placement::Start() {
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  const auto attempt = [&](auto key) {
    std::vector<std::pair<Key, int32_t>> keyed;
    for (int32_t b : movable_) keyed.push_back({key(blocks_[b]), b});
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    std::vector<int32_t> order;
    for (const auto& [_, b] : keyed) order.push_back(b);
    Try(std::move(order));
  };
  const auto in_time = [](const Block& it) {
    return it.unit >= 0 ? Key(0, it.life[0].first, 0) : Key(1, -it.bytes, 0);
  };
  attempt([](const Block& it) { return Key(-it.bytes, 0, 0); });
  attempt([](const Block& it) { return Key(-it.bytes / plan::kAlignment * LengthOf(it), 0, 0); });
  attempt([](const Block& it) { return it.unit >= 0 ? Key(0, it.unit, -it.bytes) : Key(1, -it.bytes, 0); });
  attempt(in_time);
  // The few that leave holes which nothing fills, such as logits, before all.
  const int64_t giant = arena_ / kGiant;
  attempt([&](const Block& it) { return it.bytes > giant ? Key(-1, -it.bytes, 0) : in_time(it); });
  Repair();
}

// What ends in the highest part goes first, again and again.
void Placement::Repair() {
  std::vector<int32_t> order = best_;
  Place(order, 0, std::numeric_limits<int64_t>::max());
  for (int round = 0; round < kRepairs; ++round) {
    std::vector<int64_t> end(blocks_.size(), 0);
    for (const Placed& it : placed_) end[it.block] = it.end;
    const int64_t line = arena_ - arena_ / kRepaired;
    std::stable_partition(order.begin(), order.end(), [&](int32_t b) { return end[b] > line; });
    const std::optional<int64_t> arena = Place(order, 0, std::numeric_limits<int64_t>::max());
    if (*arena < arena_) {
      arena_ = *arena;
      for (const Placed& it : placed_) offsets_[it.block] = it.begin;
      best_ = order;
    }
  }
}

void Placement::Try(std::vector<int32_t> order) {
  const std::optional<int64_t> arena = Place(order, 0, arena_ - 1);
  if (!arena) return;
  arena_ = *arena;
  for (const Placed& it : placed_) offsets_[it.block] = it.begin;
  best_ = std::move(order);
}

std::optional<int64_t> Placement::Place(absl::Span<const int32_t> order, size_t same, int64_t limit) {
  int64_t arena = bottom_;
  next_.clear();
  for (const Placed& it : placed_) {
    if (rank_[it.block] >= same) continue;
    next_.push_back(it);
    arena = std::max(arena, it.end);
  }
  effort_ += static_cast<int64_t>(placed_.size());
  for (size_t i = same; i < order.size() && arena <= limit; ++i) arena = std::max(arena, PlaceOne(order[i]));
  if (arena > limit) return std::nullopt;
  placed_.swap(next_);
  for (size_t i = same; i < order.size(); ++i) rank_[order[i]] = i;
  return arena;
}

int64_t Placement::PlaceOne(int32_t block) {
  const uint64_t* conflicts = blocks_.RowOf(block);
  const int64_t bytes = blocks_[block].bytes;
  int64_t begin = bottom_;
  auto it = next_.begin();
  for (; it != next_.end(); ++it) {
    // A mask, so that there is no branch to guess.
    const int64_t in_the_way = -static_cast<int64_t>(conflicts[it->block / 64] >> (it->block % 64) & 1);
    if ((static_cast<int64_t>(it->begin - begin >= bytes) & in_the_way) != 0) break;
    begin = std::max(begin, it->end & in_the_way);
  }
  effort_ += it - next_.begin() + 1;
  const auto place = std::upper_bound(next_.begin(), next_.end(), begin,
                                      [](int64_t at, const Placed& other) { return at < other.begin; });
  next_.insert(place, {begin, begin + bytes, block});
  return begin + bytes;
}

// From one order of the largest blocks to another, at random.
class Placement::Walk {
 public:
  Walk(Placement& placement, std::vector<int32_t> order, int64_t enough, uint32_t seed)
      : placement_(placement), order_(std::move(order)), enough_(enough), random_(seed) {
    arena_ = *placement_.Place(order_, 0, kNoLimit);
    Keep();
  }

  // Until the arena is small enough, or `effort` is used up.
  void Run(int64_t effort) {
    const int64_t begin = placement_.effort_;
    const double tolerance = kTolerances[Below(std::size(kTolerances))];
    for (int turn = 0; turn < kTurns && arena_ > enough_; ++turn) {
      const double left = 1 - static_cast<double>(placement_.effort_ - begin) / static_cast<double>(effort);
      if (left <= 0) break;
      if (!Change()) continue;
      const size_t same = std::mismatch(order_.begin(), order_.end(), changed_.begin()).first - order_.begin();
      const int64_t limit = arena_ + static_cast<int64_t>(tolerance * left * static_cast<double>(arena_));
      const std::optional<int64_t> arena = placement_.Place(changed_, same, limit);
      if (!arena) continue;
      order_.swap(changed_);
      arena_ = *arena;
      Keep();
    }
  }

  const std::vector<int32_t>& best() const { return best_; }

 private:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  static constexpr int kTurns = 200000;
  // A change may make the arena larger by such a share at first, less and less.
  static constexpr double kTolerances[] = {0, 0.001, 0.004};

  size_t Below(size_t bound) { return random_() % bound; }

  void Keep() {
    const int64_t line = arena_ - std::max<int64_t>(1, (arena_ - enough_) / 4);
    high_.clear();
    for (const Placed& it : placement_.placed_) {
      if (it.end > line) high_.push_back(it.block);
    }
    if (arena_ >= best_arena_) return;
    best_arena_ = arena_;
    best_ = order_;
  }

  // Moves one that ends high, alone or with its unit; false if that changes nothing.
  bool Change() {
    const int32_t block = high_[Below(high_.size())], unit = placement_.blocks_[block].unit;
    const size_t mode = Below(4);
    if (mode <= 1) {
      const int32_t other = order_[Below(order_.size())];
      return mode == 0 && unit >= 0 ? MoveUnit(unit, other)
                                    : MoveUnit(placement_.blocks_[other].unit, order_[Below(order_.size())]);
    }
    const size_t from = std::find(order_.begin(), order_.end(), block) - order_.begin();
    if (from == 0) return false;
    const size_t to = Below(from);
    changed_ = order_;
    if (mode == 2) {
      std::swap(changed_[from], changed_[to]);
    } else {
      std::rotate(changed_.begin() + to, changed_.begin() + from, changed_.begin() + from + 1);
    }
    return true;
  }

  // All that a unit keeps goes before the first block that the unit of `other` keeps.
  bool MoveUnit(int32_t unit, int32_t other) {
    const int32_t before = placement_.blocks_[other].unit;
    if (unit < 0 || unit == before) return false;
    std::vector<int32_t> moved;
    changed_.clear();
    for (int32_t b : order_) (placement_.blocks_[b].unit == unit ? moved : changed_).push_back(b);
    const auto place = std::find_if(changed_.begin(), changed_.end(), [&](int32_t b) {
      return b == other || (before >= 0 && placement_.blocks_[b].unit == before);
    });
    changed_.insert(place, moved.begin(), moved.end());
    return true;
  }

  Placement& placement_;
  std::vector<int32_t> order_, changed_, best_, high_;
  int64_t arena_ = 0, best_arena_ = kNoLimit;
  const int64_t enough_;
  std::mt19937 random_;
};

void Placement::Search(int64_t enough, int64_t effort, uint32_t seed) {
  std::vector<int32_t> order;  // of those that have been searched for, as they came out best
  for (int64_t part : kParts) {
    if (arena_ <= enough || movable_.empty()) return;
    const int64_t least = part == 0 ? 0 : blocks_[movable_[0]].bytes / part;
    const auto begin = movable_.begin();
    auto end = std::find_if(begin, movable_.end(), [&](int32_t b) { return blocks_[b].bytes < least; });
    end = std::min(end, begin + std::min<ptrdiff_t>(kMost, movable_.size()));
    if (order.empty()) {
      const std::set<int32_t> large(begin, end);
      for (int32_t b : best_) {
        if (large.count(b) > 0) order.push_back(b);
      }
    } else {
      order.insert(order.end(), begin + order.size(), end);
    }
    Walk walk(*this, order, enough, seed++);
    walk.Run(effort / std::size(kParts));
    order = walk.best();
    std::vector<int32_t> all = order;
    all.insert(all.end(), end, movable_.end());
    Try(std::move(all));
  }
}

}  // namespace weft::compiler
