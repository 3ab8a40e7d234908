#include "compiler/passes/memory/search.h"

#include <random>

namespace weft::compiler {
namespace {

// So often the search begins again, each time with another share of changes to whole units and of tolerance.
struct Round {
  double units = 0;     // of the changes
  double tolerance = 0; // of the arena
};
constexpr Round kRounds[] = {{0.7, 0.001}, {0.5, 0}, {0.3, 0.004}, {0.7, 0}, {0.5, 0.002}, {0.3, 0}, {0.7, 0.004}, {0.05, 0.004}};

// Changes that lead nowhere take no work.
constexpr int kTurns = 100000;

class Search {
public:
  Search(Packing &packing, std::vector<int32_t> order, const SearchOptions &options)
      : packing_(packing), options_(options), start_(order), best_(std::move(order)) {
    bestArena_ = *packing_.pack(start_, INT64_MAX);
    startArena_ = bestArena_;
    addGroups();
  }

  std::vector<int32_t> run() {
    int64_t begin = packing_.work();
    int64_t share = (options_.work + int64_t(std::size(kRounds)) - 1) / int64_t(std::size(kRounds));
    for (size_t r = 0; r < std::size(kRounds) && bestArena_ > options_.enough; ++r) {
      round(kRounds[r], begin + int64_t(r) * share, share);
    }
    return best_;
  }

private:
  void addGroups();
  void round(const Round &round, int64_t from, int64_t share);
  bool moveGroup();
  bool moveBlock();

  size_t below(size_t bound) { return random_() % bound; }

  Packing &packing_;
  const SearchOptions options_;
  std::vector<int32_t> start_, best_;
  int64_t startArena_ = 0, bestArena_ = 0;
  std::mt19937 random_; // seeded alike everywhere
  std::vector<int32_t> groupOf_; // a member each; -1: none
  int32_t groups_ = 0;

  // Of a round.
  std::vector<int32_t> order_, changed_;
  std::vector<int32_t> high_; // members that end too high
  int64_t arena_ = 0;
};

// What a unit keeps is a group, and each giant is one.
void Search::addGroups() {
  std::map<int64_t, int32_t> ofInstance;
  for (int32_t m = 0; m < packing_.size(); ++m) {
    const Block &block = packing_.block(m);
    if (block.bytes >= options_.giant) {
      groupOf_.push_back(groups_++);
    } else if (!block.kept) {
      groupOf_.push_back(-1);
    } else {
      auto [it, added] = ofInstance.try_emplace(block.start.instance, groups_);
      groups_ += added;
      groupOf_.push_back(it->second);
    }
  }
}

void Search::round(const Round &round, int64_t from, int64_t share) {
  order_ = start_;
  arena_ = startArena_;
  auto findHigh = [&] {
    int64_t line = std::max(options_.enough, arena_ - (arena_ - options_.enough) / 4);
    high_.clear();
    for (int32_t m = 0; m < packing_.size(); ++m) {
      if (packing_.end(m) > line) {
        high_.push_back(m);
      }
    }
  };
  packing_.pack(order_, INT64_MAX);
  findHigh();
  for (int turn = 0; turn < kTurns && arena_ > options_.enough && packing_.work() < from + share; ++turn) {
    bool units = groups_ > 1 && double(below(1000)) < 1000 * round.units;
    if (!(units ? moveGroup() : moveBlock())) {
      continue;
    }
    double left = 1 - double(packing_.work() - from) / double(share);
    std::optional<int64_t> arena = packing_.pack(changed_, arena_ + int64_t(round.tolerance * left * double(arena_)));
    if (!arena) {
      continue;
    }
    std::swap(order_, changed_);
    arena_ = *arena;
    findHigh();
    if (arena_ < bestArena_) {
      bestArena_ = arena_;
      best_ = order_;
    }
  }
}

// Before the first of another group.
bool Search::moveGroup() {
  int32_t of = groupOf_[high_[below(high_.size())]];
  int32_t group = below(2) == 0 && of >= 0 ? of : int32_t(below(groups_)), other = int32_t(below(groups_));
  if (group == other) {
    return false;
  }
  std::vector<int32_t> moved;
  changed_.clear();
  for (int32_t m : order_) {
    (groupOf_[m] == group ? moved : changed_).push_back(m);
  }
  if (below(4) == 0) {
    llvm::sort(moved, [&](int32_t a, int32_t b) {
      return std::pair(packing_.block(a).start, a) < std::pair(packing_.block(b).start, b);
    });
    if (below(2) == 0) {
      std::reverse(moved.begin(), moved.end());
    }
  }
  auto place = llvm::find_if(changed_, [&](int32_t m) { return groupOf_[m] == other; });
  changed_.insert(place, moved.begin(), moved.end());
  return true;
}

// To any place further ahead, before what may not share its bytes, or in exchange for that.
bool Search::moveBlock() {
  int32_t member = high_[below(high_.size())];
  size_t from = llvm::find(order_, member) - order_.begin(), to = 0;
  size_t mode = below(3);
  if (mode == 0) {
    to = below(from + 1);
  } else {
    std::vector<size_t> inTheWay;
    for (size_t i = 0; i < from; ++i) {
      if (packing_.conflict(member, order_[i])) {
        inTheWay.push_back(i);
      }
    }
    if (inTheWay.empty()) {
      return false;
    }
    to = inTheWay[below(inTheWay.size())];
  }
  changed_ = order_;
  if (mode == 2) {
    std::swap(changed_[from], changed_[to]);
  } else {
    std::rotate(changed_.begin() + to, changed_.begin() + from, changed_.begin() + from + 1);
  }
  return true;
}

} // namespace

std::vector<int32_t> improveOrder(Packing &packing, std::vector<int32_t> order, const SearchOptions &options) {
  return Search(packing, std::move(order), options).run();
}

} // namespace weft::compiler
