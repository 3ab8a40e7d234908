#include "compiler/search/chain.h"

#include <algorithm>
#include <tuple>

#include "compiler/search/assembly.h"
#include "compiler/search/block_class.h"
#include "compiler/search/menu.h"
#include "compiler/search/narrow.h"
#include "compiler/search/sweep.h"

namespace weft::search {
namespace {

// Weighted costs of what may be are below this.
constexpr int64_t kMost = kNever / 2;

// Prices of a byte that are tried at most; they are found by cutting planes, and few problems need more than ten.
constexpr int kMostPrices = 24;

// Points that a frontier may have at first. Each time that it was too few, it may have so many times more.
constexpr size_t kFirstPoints = 8, kMorePoints = 8;

// Prices of a byte that points are held against.
constexpr size_t kMostBounds = 3;

std::vector<BlockClass> classesOf(const Chain &chain, const Effort &effort) {
  std::vector<BlockClass> classes;
  for (const Block &block : chain.blocks) {
    classes.emplace_back(block, effort.table);
  }
  return classes;
}

// Pairs of states at the borders of a block at most.
constexpr int64_t kMostPairs = 1 << 22;

// Of the block that has most.
int64_t pairsOf(const Chain &chain) {
  int64_t most = 1;
  for (const Block &block : chain.blocks) {
    int64_t pairs = 1;
    for (const std::vector<int> *side : {&block.in, &block.out}) {
      for (int v : *side) {
        pairs = std::min(kNever / kMostPairs, pairs) * int64_t(block.labelling.own[v].size());
      }
    }
    most = std::max(most, pairs);
  }
  return most;
}

// The gap is small enough.
bool isClosed(const Solution &solution, const Effort &effort) {
  return solution.fits && __int128(solution.gap()) * 1'000'000 <= __int128(effort.enough) * solution.price.seconds;
}

class Search {
public:
  Search(Narrowed narrowed, int64_t limit, const Effort &effort, Work &work)
      : chain_(std::move(narrowed.chain)), left_(std::move(narrowed.left)), effort_(effort), work_(work),
        classes_(classesOf(chain_, effort)), classOf_(placesOf(chain_)), most_(mostOf(chain_)),
        limit_(std::clamp<int64_t>(limit, -1, most_.bytes)), best_(std::move(narrowed.known)),
        menu_(chain_, classes_, classOf_) {}

  /// No table is too large.
  bool isExact() const {
    return std::all_of(classes_.begin(), classes_.end(), [](const BlockClass &one) { return one.isExact(); });
  }

  Solution solve() {
    const Weights seconds{1, 0}, bytes{0, 1},
        bytesFirst{1, std::max<int64_t>(1, (kMost - most_.seconds) / (1 + most_.bytes))};
    const Price fast = look(seconds);
    if (isClosed() || best_.leastBytes == kNever) {
      return best_;
    }
    if (!best_.fits) {
      look(bytesFirst);
    }
    if (!best_.fits) {
      look(bytes);
      while (!best_.fits && (best_.labels.empty() || best_.price.bytes > best_.leastBytes) && divide(bytes, kNever)) {
        look(bytes);
      }
    }
    if (!best_.fits) {
      return best_;
    }
    std::vector<Weights> weights = cut(fast, best_.price);
    weights.resize(std::min<size_t>(weights.size(), kMostBounds));
    weights.push_back(seconds);
    weights.push_back(bytes);
    shrink(weights[0]);
    while (!isClosed() && divide(weights[0], mostFor(weights[0]))) {
      look(weights[0]);
    }
    assemble(weights);
    return best_;
  }

  WholeFrontier frontier() {
    const Weights seconds{1, 0};
    while (divide(seconds, kNever)) {
    }
    const std::vector<BlockFrontiers> blocks = isExact() ? frontiers(effort_.points) : std::vector<BlockFrontiers>();
    if (blocks.empty()) {
      return {{}, kNever};
    }
    const Assembly whole(blocks, classOf_, {}, effort_.points, work_);
    return whole.isComplete() ? WholeFrontier{whole.points(), whole.lost()} : WholeFrontier{{}, kNever};
  }

private:
  bool isClosed() const { return search::isClosed(best_, effort_); }
  Sweep sweep(Weights weights) { return {classes_, classOf_, weights, work_}; }

  // What labels cost at most that fit and are faster than the best ones.
  Cost mostFor(Weights weights) const {
    const int64_t seconds = best_.fits ? best_.price.seconds - 1 : most_.seconds;
    return seconds * weights.second + limit_ * weights.byte;
  }

  // Takes the best labels for these weights, raises the bounds, and says what the labels take.
  Price look(Weights weights) {
    const Sweep now = sweep(weights);
    if (now.least() == kNever) {
      // Nothing is left: what was dropped does not fit, or is no faster than the best labels.
      best_.bound = best_.fits ? best_.price.seconds : kNever;
      best_.leastBytes = best_.labels.empty() ? kNever : best_.leastBytes;
      return kImpossible;
    }
    const auto quotient = [](Cost cost, int64_t weight) { return cost <= 0 ? 0 : (cost + weight - 1) / weight; };
    if (weights.second > 0) {
      best_.bound = std::max(best_.bound, quotient(now.least() - limit_ * weights.byte, weights.second));
    } else {
      best_.leastBytes = std::max(best_.leastBytes, quotient(now.least(), weights.byte));
      best_.bound = best_.leastBytes > limit_ ? kNever : best_.bound;
    }
    const Price price = offer(menu_.add(now));
    if (classOf_.size() > 1 && !isClosed()) {
      offer(menu_.mix(now, limit_, mostFor(weights), work_));
    }
    if (best_.fits) {
      best_.bound = std::min(best_.bound, best_.price.seconds); // what was dropped may be as good
    }
    return price;
  }

  // Keeps labels if they are better than the best ones.
  Price offer(ChainLabels labels) {
    Price price = labels.empty() ? kImpossible : Price{};
    for (size_t i = 0; i < labels.size(); ++i) {
      price = price + priceOf(chain_.blocks[classOf_[i]].labelling, labels[i]);
    }
    if (!price.may()) {
      return price;
    }
    const bool fits = price.bytes <= limit_;
    const auto rank = [](bool fits, Price price) {
      return fits ? std::tuple(0, price.seconds, price.bytes) : std::tuple(1, price.bytes, price.seconds);
    };
    if (best_.labels.empty() || rank(fits, price) < rank(best_.fits, best_.price)) {
      best_.fits = fits;
      best_.price = price;
      for (size_t i = 0; i < labels.size(); ++i) {
        for (size_t v = 0; v < labels[i].size(); ++v) {
          labels[i][v] = left_[classOf_[i]][v][labels[i][v]];
        }
      }
      best_.labels = std::move(labels);
    }
    return price;
  }

  // Looks at weights between labels that are fast and ones that fit: each price of a byte makes both equally good,
  // until none is better (Kelley's cutting planes, J. SIAM 8, 1960, on a line). The weights with the highest bound come
  // first, then those that were tried last.
  std::vector<Weights> cut(Price fast, Price small) {
    std::vector<Weights> tried;
    int64_t bound = -1;
    for (int i = 0; i < kMostPrices && !isClosed() && fast.bytes > small.bytes && small.seconds > fast.seconds &&
                    (i == 0 || !work_.isOver());
         ++i) {
      const __int128 more = small.seconds - fast.seconds, fewer = fast.bytes - small.bytes;
      const __int128 divisor = 1 + (fewer * most_.seconds + more * most_.bytes) / kMost;
      const Weights weights{std::max<int64_t>(1, int64_t(fewer / divisor)), int64_t(more / divisor)};
      const int64_t before = best_.bound;
      const Price price = look(weights);
      const bool better = best_.bound > before || bound < 0;
      tried.insert(better ? tried.begin() : tried.begin() + 1, weights);
      bound = better ? best_.bound : bound;
      if (!price.may() || price == fast || price == small) {
        break;
      }
      (price.bytes > limit_ ? fast : small) = price;
      if (best_.fits && best_.gap() * int64_t(4 * classOf_.size()) <= best_.bound) {
        shrink(weights); // a quarter of a block: many labels make more of a difference
      }
    }
    return tried;
  }

  // Divides the open case that costs least, after dropping what costs more than `most`; false if there is none, none
  // that costs less than all others, or no effort. `most` kNever: nothing is dropped.
  bool divide(Weights weights, Cost most) {
    if (work_.isOver()) {
      return false;
    }
    const Sweep now = sweep(weights);
    BlockClass::Least least;
    size_t best = 0;
    for (size_t k = 0; k < classes_.size(); ++k) {
      if (most < kNever) {
        classes_[k].drop(now.around(k), most);
      }
      const BlockClass::Least mine = classes_[k].least(now.around(k));
      best = mine.open < least.open ? k : best;
      least = {std::min(least.open, mine.open), std::min(least.closed, mine.closed)};
    }
    if (least.open == kNever) {
      return false;
    }
    classes_[best].divide(now.around(best));
    return true;
  }

  // Drops what the best labels and these weights rule out. The rest is much less to go through.
  void shrink(Weights weights) {
    if (isClosed() || work_.isOver()) {
      return;
    }
    const Sweep now = sweep(weights);
    for (size_t k = 0; k < classes_.size(); ++k) {
      classes_[k].shrink(now.around(k), mostFor(weights), work_);
    }
  }

  // The frontiers of all classes, of at most `cap` points; none if that was too much work.
  std::vector<BlockFrontiers> frontiers(size_t cap) {
    std::vector<BlockFrontiers> blocks;
    for (BlockClass &one : classes_) {
      FrontierTable table = one.frontiers(cap, work_);
      if (!one.isComplete()) {
        return {};
      }
      blocks.push_back({one.ins(), one.outs(), std::move(table), one.lost()});
    }
    return blocks;
  }

  // Puts frontiers together that hold all that is better than what is known, with ever more points.
  void assemble(const std::vector<Weights> &weights) {
    for (size_t cap = kFirstPoints; !isClosed() && isExact() && !work_.isOver(); cap *= kMorePoints) {
      cap = std::min(cap, effort_.points);
      std::vector<Ahead> ahead;
      for (BlockClass &one : classes_) {
        one.clear();
      }
      for (const Weights &weight : weights) {
        const Sweep now = sweep(weight);
        for (size_t k = 0; k < classes_.size(); ++k) {
          classes_[k].complete(now.around(k), mostFor(weight), work_);
        }
        ahead.push_back({weight, mostFor(weight), now.after()});
      }
      const std::vector<BlockFrontiers> blocks = frontiers(cap);
      if (blocks.empty()) {
        return;
      }
      const Assembly whole(blocks, classOf_, ahead, cap, work_);
      if (!whole.isComplete()) {
        return;
      }
      if (!whole.points().empty()) {
        ChainLabels labels;
        for (const Assembly::Step &step : whole.stepsTo(whole.points().back())) {
          labels.push_back(classes_[classOf_[labels.size()]].labels(step.in, step.out, step.point));
        }
        offer(std::move(labels));
      }
      best_.bound = std::max(best_.bound, best_.price.seconds - whole.lost());
      if (cap == effort_.points) {
        return;
      }
      shrink(weights[0]);
    }
  }

  const Chain chain_;
  const std::vector<std::vector<std::vector<int>>> left_; // of the chain's labels, their numbers in what is asked
  const Effort effort_;
  Work &work_;
  std::vector<BlockClass> classes_;
  const std::vector<int> classOf_; // of each place
  Price most_;                     // what labels can take at most
  int64_t limit_ = 0;
  Solution best_;
  Menu menu_;
};

Solution solveWithin(const Chain &chain, int64_t limit, const Effort &effort, Work &work) {
  if (pairsOf(chain) <= kMostPairs) {
    if (Search whole(unnarrowed(chain), limit, effort, work); whole.isExact()) {
      return whole.solve();
    }
  }
  Narrowed narrowed = narrow(chain, limit, work);
  if (isClosed(narrowed.known, effort) || narrowed.known.isInfeasible() || pairsOf(narrowed.chain) > kMostPairs) {
    return narrowed.known;
  }
  return Search(std::move(narrowed), limit, effort, work).solve();
}

// A frontier from solutions for some limits.
class Samples {
public:
  Samples(const Chain &chain, const Effort &effort, Work &work) : chain_(chain), effort_(effort), work_(work) {}

  WholeFrontier run() {
    const Solution none = solveWithin(chain_, -1, effort_, work_);
    if (!none.isInfeasible()) {
      return {{}, kNever};
    }
    if (none.labels.empty()) {
      return {};
    }
    for (int64_t limit : {none.leastBytes, kNever}) {
      if (!add(limit)) {
        return {{}, kNever};
      }
    }
    for (int i = 0; i < kMostSamples && !work_.isOver(); ++i) {
      const size_t worst = worstOf();
      if (errorOf(worst) * kEnough <= known_.back().solution.price.seconds || !isOpen(worst) ||
          !add(known_[worst].limit + (known_[worst + 1].solution.price.bytes - known_[worst].limit) / 2)) {
        break;
      }
    }
    WholeFrontier whole{{}, errorOf(worstOf())};
    for (const Known &known : known_) {
      whole.points.push_back(known.solution.price);
    }
    keepUndominated(whole.points);
    return whole;
  }

private:
  struct Known {
    int64_t limit;
    Solution solution;
  };

  // Limits at most, and an error that is good enough, as a share of the seconds.
  static constexpr int kMostSamples = 32, kEnough = 1000;

  // There may be labels of more bytes than this limit and fewer than the next point.
  bool isOpen(size_t i) const {
    return i + 1 < known_.size() && known_[i + 1].solution.price.bytes - known_[i].limit > 1;
  }

  // How much faster than a point labels can be that have no fewer bytes, and fewer than the next point.
  int64_t errorOf(size_t i) const {
    return known_[i].solution.price.seconds -
           std::min(known_[i].solution.bound, known_[isOpen(i) ? i + 1 : i].solution.bound);
  }

  size_t worstOf() const {
    size_t worst = 0;
    for (size_t i = 1; i < known_.size(); ++i) {
      worst = errorOf(i) > errorOf(worst) ? i : worst;
    }
    return worst;
  }

  // False: no labels were found, for lack of effort.
  bool add(int64_t limit) {
    Known known{limit, solveWithin(chain_, limit, effort_, work_)};
    if (!known.solution.fits) {
      return false;
    }
    const auto isBelow = [](const Known &a, const Known &b) { return a.limit < b.limit; };
    known_.insert(std::upper_bound(known_.begin(), known_.end(), known, isBelow), std::move(known));
    return true;
  }

  const Chain &chain_;
  const Effort &effort_;
  Work &work_;
  std::vector<Known> known_; // by limit
};

} // namespace

Solution solve(const Chain &chain, int64_t limit, const Effort &effort) {
  Work work{0, effort.work};
  return solveWithin(chain, limit, effort, work);
}

Solution solve(const Labelling &problem, int64_t limit, const Effort &effort) {
  return solve(Chain{{{problem, {}, {}}}, {{0, 1}}}, limit, effort);
}

WholeFrontier frontierOf(const Chain &chain, const Effort &effort) {
  Work work{0, effort.work / 4};
  if (pairsOf(chain) <= kMostPairs) {
    if (WholeFrontier whole = Search(unnarrowed(chain), kNever, effort, work).frontier(); whole.error < kNever) {
      return whole;
    }
  }
  work.most = effort.work;
  return Samples(chain, effort, work).run();
}

} // namespace weft::search
