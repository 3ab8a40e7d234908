#include "compiler/passes/memory/search.h"

#include <random>

namespace weft::compiler {
namespace {

// So often the search begins again, by turns with the best order that is known and with another one: mostly that of
// time, else with the units in an order of chance; each time with a share of the arena, one of these, by which it may
// grow at first.
constexpr int kRounds = 4;
constexpr double kTolerances[] = {0, 0.001, 0.004};

// Of a hundred changes so many move what a unit keeps.
constexpr size_t kOfUnits = 70;

// Changes that lead nowhere take no work.
constexpr int kTurns = 100000;

class Search {
public:
  Search(Packing &packing, std::vector<int32_t> order, const SearchOptions &options)
      : packing_(packing), options_(options), best_(std::move(order)), random_(options.seed) {
    addGroups();
    order_ = best_;
    arena_ = *packing_.pack(order_, INT64_MAX);
    keepBest();
  }

  std::vector<int32_t> run() {
    int64_t begin = packing_.work(), share = options_.work / kRounds;
    for (int r = 0; r < kRounds && bestArena_ > options_.enough; ++r) {
      order_ = r % 2 == 0 ? best_ : orderOf(below(3) == 0);
      round(kTolerances[below(std::size(kTolerances))], begin + r * share, share);
    }
    return best_;
  }

private:
  void addGroups();
  std::vector<int32_t> orderOf(bool chance);
  void round(double tolerance, int64_t from, int64_t share);
  bool moveGroup();
  bool moveBlock();
  void findHigh();
  void keepBest();

  size_t below(size_t bound) { return random_() % bound; }

  Packing &packing_;
  const SearchOptions options_;
  std::vector<int32_t> best_;
  int64_t bestArena_ = INT64_MAX;
  std::mt19937 random_;
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

// What units keep, unit after unit in time or by chance, then the rest by size.
std::vector<int32_t> Search::orderOf(bool chance) {
  std::vector<int64_t> rank(groups_, 0);
  for (int64_t &it : rank) {
    it = chance ? int64_t(below(1000)) : 0;
  }
  auto order = llvm::to_vector(llvm::seq<int32_t>(0, packing_.size()));
  auto key = [&](int32_t m) {
    const Block &block = packing_.block(m);
    return groupOf_[m] >= 0 ? std::tuple(rank[groupOf_[m]], block.start, int64_t(0), m)
                            : std::tuple(int64_t(1000), Moment(), -block.bytes, m);
  };
  llvm::sort(order, [&](int32_t a, int32_t b) { return key(a) < key(b); });
  return {order.begin(), order.end()};
}

void Search::findHigh() {
  int64_t line = std::min(arena_ - 1, std::max(options_.enough, arena_ - (arena_ - options_.enough) / 4));
  high_.clear();
  for (int32_t m = 0; m < packing_.size(); ++m) {
    if (packing_.end(m) > line) {
      high_.push_back(m);
    }
  }
}

void Search::keepBest() {
  if (arena_ < bestArena_) {
    bestArena_ = arena_;
    best_ = order_;
  }
}

void Search::round(double tolerance, int64_t from, int64_t share) {
  arena_ = *packing_.pack(order_, INT64_MAX);
  keepBest();
  findHigh();
  for (int turn = 0; turn < kTurns && arena_ > options_.enough && packing_.work() < from + share; ++turn) {
    if (!(groups_ > 1 && below(100) < kOfUnits ? moveGroup() : moveBlock())) {
      continue;
    }
    size_t same = std::mismatch(order_.begin(), order_.end(), changed_.begin()).first - order_.begin();
    double left = std::max(0.0, 1 - double(packing_.work() - from) / double(share));
    auto arena = packing_.pack(changed_, arena_ + int64_t(tolerance * left * double(arena_)), same);
    if (!arena) {
      continue;
    }
    std::swap(order_, changed_);
    arena_ = *arena;
    keepBest();
    findHigh();
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
