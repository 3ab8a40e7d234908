#include "compiler/passes/memory/placement.h"

#include "compiler/passes/memory/search.h"

namespace weft::compiler {
namespace {

// Of what is live, a block of more than this part is a giant.
constexpr int64_t kGiant = 16;

// So often an order is changed, until the arena is at most so much larger than what is live.
constexpr int kRounds = 12;
constexpr double kEnough = 1.005;

// The smallest blocks, which together are never more than such a part of what is live, are placed at the end: between
// large ones they would leave holes that nothing else fits into.
constexpr int64_t kDust[] = {3, 10, 20, 50, 100, 500};
constexpr size_t kMost = 8192;    // of the others, at most
constexpr size_t kFew = 2048;     // all that is known is tried, even for the last byte
constexpr int64_t kSketched = 10; // a sketch leaves out such a part

int64_t lengthOf(const Block &block) {
  int64_t length = 0;
  for (Span span : block.life) {
    length += span.last - span.first + 1;
  }
  return length;
}

// The lowest offset of the tightest gap that holds a block, between others that begin and end at these offsets.
int64_t tightestGap(int64_t bytes, llvm::MutableArrayRef<std::pair<int64_t, int64_t>> others, int64_t bottom) {
  llvm::sort(others);
  int64_t best = -1, bestGap = 0, end = bottom;
  for (auto [begins, ends] : others) {
    int64_t gap = begins - end;
    if (gap >= bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, ends);
  }
  return best >= 0 ? best : end;
}

// How many blocks are left if the smallest are not counted, as long as at most `bytes` of these live at once.
size_t dustOf(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> bySize, int64_t positions, int64_t bytes) {
  auto isDust = [&](size_t first) {
    std::vector<int64_t> change(positions + 1, 0);
    for (int32_t i : bySize.drop_front(first)) {
      for (Span span : blocks[i].life) {
        change[span.first] += blocks[i].bytes;
        change[span.last + 1] -= blocks[i].bytes;
      }
    }
    int64_t live = 0;
    return llvm::all_of(change, [&](int64_t delta) { return (live += delta) <= bytes; });
  };
  size_t some = 0, dust = bySize.size();
  while (some < dust) {
    size_t middle = (some + dust) / 2;
    if (isDust(middle)) {
      dust = middle;
    } else {
      some = middle + 1;
    }
  }
  return std::min(dust, kMost);
}

using Key = std::tuple<int64_t, int64_t, int64_t>;

// Tries orders of the members of a packing, and keeps the best.
class Orders {
public:
  Orders(Packing &packing, int64_t least) : packing_(packing), least_(least) {
    for (int32_t m = 0; m < packing.size(); ++m) {
      length_.push_back(lengthOf(packing.block(m)));
    }
  }

  /// The best of the known ones, made better by what ends too high.
  void start() {
    tryKeys();
    repair();
  }
  void search(int64_t work, uint32_t seed) {
    keep(improveOrder(packing_, best_, {int64_t(kEnough * double(least_)), work, least_ / kGiant, seed}));
  }
  /// One order more.
  void keep(std::vector<int32_t> order) {
    int64_t arena = *packing_.pack(order, INT64_MAX);
    if (arena < arena_) {
      arena_ = arena;
      best_ = std::move(order);
    }
  }
  llvm::ArrayRef<int32_t> best() const { return best_; }
  int64_t arena() const { return arena_; }

  /// The known orders, as they are.
  void tryKeys() {
    auto at = [&](int32_t m) -> const Block & { return packing_.block(m); };
    auto byTime = [&](int32_t m) {
      const Block &it = at(m);
      return it.kept ? Key(0, it.start.instance, it.start.position) : Key(1, -it.bytes, 0);
    };
    attempt([&](int32_t m) { return Key(-at(m).bytes, 0, 0); });
    attempt([&](int32_t m) { return Key(-length_[m], -at(m).bytes, 0); });
    attempt([&](int32_t m) { return Key(-at(m).bytes / 64 * length_[m], 0, 0); });
    attempt(byTime);
    // The few that leave holes which nothing fills, such as logits, before all.
    attempt([&](int32_t m) { return at(m).bytes > least_ / kGiant ? Key(-1, -at(m).bytes, 0) : byTime(m); });
    attempt(
        [&](int32_t m) { return at(m).kept ? Key(0, at(m).start.instance, -at(m).bytes) : Key(1, -at(m).bytes, 0); });
  }

private:
  template <typename By> void attempt(By key) {
    if (arena_ <= least_) {
      return;
    }
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, packing_.size()));
    llvm::sort(order, [&](int32_t a, int32_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
    keep(std::vector<int32_t>(order.begin(), order.end()));
  }

  // What ends above the least that is possible goes first, again and again.
  void repair() {
    std::vector<int32_t> order = best_;
    packing_.pack(order, INT64_MAX);
    for (int round = 0; round<kRounds &&double(arena_)> kEnough * double(least_); ++round) {
      std::vector<int32_t> changed, rest;
      for (int32_t m : order) {
        (packing_.end(m) > least_ ? changed : rest).push_back(m);
      }
      changed.insert(changed.end(), rest.begin(), rest.end());
      order = std::move(changed);
      keep(order);
    }
  }

  Packing &packing_;
  const int64_t least_;
  std::vector<int64_t> length_;
  std::vector<int32_t> best_;
  int64_t arena_ = INT64_MAX;
};

} // namespace

// Some of the largest blocks are placed in a good order, then the others.
struct Placement::Trial {
  std::vector<int32_t> members;
  std::unique_ptr<Packing> packing;
  std::unique_ptr<Orders> orders;
};

Placement::Placement(std::vector<Block> blocks, int64_t positions)
    : blocks_(std::move(blocks)), positions_(positions), least_(mostLive(blocks_, positions)) {
  for (auto [i, block] : llvm::enumerate(blocks_)) {
    if (lengthOf(block) == positions) {
      block.offset = bottom_;
      bottom_ += block.bytes;
    } else {
      bySize_.push_back(int32_t(i));
    }
  }
  llvm::sort(bySize_,
             [&](int32_t a, int32_t b) { return std::pair(-blocks_[a].bytes, a) < std::pair(-blocks_[b].bytes, b); });
}

Placement::Placement(Placement &&) = default;
Placement &Placement::operator=(Placement &&) = default;
Placement::~Placement() = default;

Placement::Trial Placement::trial(size_t size) const {
  std::vector<int32_t> members(bySize_.begin(), bySize_.begin() + size);
  llvm::sort(members);
  auto packing = std::make_unique<Packing>(blocks_, members, bottom_);
  auto orders = std::make_unique<Orders>(*packing, bottom_ + mostLive(blocks_, members, positions_));
  return {std::move(members), std::move(packing), std::move(orders)};
}

int64_t Placement::sketch() const {
  Trial largest = trial(dustOf(blocks_, bySize_, positions_, least_ / kSketched));
  largest.orders->tryKeys();
  return largest.orders->arena();
}

void Placement::start() {
  if (!offsets_.empty()) {
    return;
  }
  for (int64_t part : kDust) {
    size_t size = dustOf(blocks_, bySize_, positions_, least_ / part);
    bool done = bySize_.size() <= kFew ? arena_ <= least_ : isEnough();
    if (!done && (trials_.empty() || trials_.back().members.size() != size)) {
      trials_.push_back(trial(size));
      trials_.back().orders->start();
      keep(trials_.back());
    }
  }
}

void Placement::search(int64_t work) {
  for (size_t i = 0; i < trials_.size() && !isEnough(); ++i) {
    if (i > 0) {
      offer(bySize_, trials_[i - 1], trials_[i]);
    }
    trials_[i].orders->search(work / int64_t(std::size(kDust)), seed_++);
    keep(trials_[i]);
  }
}

bool Placement::isEnough() const { return double(arena_) <= kEnough * double(least_); }

// What has been found for fewer blocks, with the others behind them.
void Placement::offer(llvm::ArrayRef<int32_t> bySize, const Trial &coarse, Trial &fine) {
  auto memberOf = [&](int32_t block) { return int32_t(llvm::lower_bound(fine.members, block) - fine.members.begin()); };
  std::vector<int32_t> order;
  for (int32_t member : coarse.orders->best()) {
    order.push_back(memberOf(coarse.members[member]));
  }
  for (size_t i = order.size(); i < fine.members.size(); ++i) {
    order.push_back(memberOf(bySize[i]));
  }
  fine.orders->keep(std::move(order));
}

void Placement::keep(const Trial &trial) {
  int64_t arena = *trial.packing->pack(trial.orders->best(), INT64_MAX);
  if (arena >= arena_) {
    return;
  }
  for (auto [i, member] : llvm::enumerate(trial.members)) {
    blocks_[member].offset = trial.packing->offset(int32_t(i));
  }
  if (!conflicts_ && trial.members.size() < bySize_.size()) {
    conflicts_ = std::make_unique<Conflicts>(blocks_, bySize_);
  }
  std::vector<std::pair<int64_t, int64_t>> others;
  for (size_t dust = trial.members.size(); dust < bySize_.size(); ++dust) {
    others.clear();
    // Those that are larger have their places.
    llvm::ArrayRef<uint64_t> row = conflicts_->of(int32_t(dust));
    for (size_t w = 0; w <= dust / 64; ++w) {
      uint64_t placed = w < dust / 64 ? ~uint64_t(0) : (uint64_t(1) << dust % 64) - 1;
      for (uint64_t bits = row[w] & placed; bits != 0; bits &= bits - 1) {
        const Block &other = blocks_[bySize_[w * 64 + llvm::countr_zero(bits)]];
        others.push_back({other.offset, other.offset + other.bytes});
      }
    }
    Block &block = blocks_[bySize_[dust]];
    block.offset = tightestGap(block.bytes, others, bottom_);
    arena = std::max(arena, block.offset + block.bytes);
    if (arena >= arena_) {
      return;
    }
  }
  arena_ = arena;
  offsets_.clear();
  llvm::transform(blocks_, std::back_inserter(offsets_), [](const Block &block) { return block.offset; });
}

} // namespace weft::compiler
