#include "compiler/search/narrow.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "compiler/search/relaxation.h"

namespace weft::search {
namespace {

// Weighted costs add up to less.
constexpr int64_t kMost = int64_t(1) << 52;

// How often messages pass to and fro: for each price of a byte that is tried, and at a time to drop labels, until the
// bound rises by less than such a share.
constexpr int kRounds = 6, kMoreRounds = 10, kMostRounds = 100, kHardly = 2000;

// Prices of a byte that are tried at most.
constexpr int kMostPrices = 10;

Price mostOf(const Labelling &problem) {
  const auto most = [](const std::vector<Price> &prices) {
    Price most;
    for (const Price price : prices) {
      if (price.may()) {
        most = {std::max(most.seconds, price.seconds), std::max(most.bytes, price.bytes)};
      }
    }
    return most;
  };
  Price sum;
  for (const std::vector<Price> &own : problem.own) {
    sum = sum + most(own);
  }
  for (const Link &link : problem.links) {
    sum = sum + most(link.price);
  }
  return sum;
}

class Narrowing {
  using Nodes = Relaxation::Nodes;

public:
  Narrowing(const Chain &chain, int64_t limit, Work &work)
      : chain_(chain), work_(work), classOf_(placesOf(chain)), most_(search::mostOf(chain)),
        limit_(std::clamp<int64_t>(limit, -1, most_.bytes)), relaxation_(chain, classOf_),
        narrowed_(unnarrowed(chain)) {}

  Narrowed run() {
    if (std::max(most_.seconds, most_.bytes) < kMost / 2 && !classOf_.empty()) {
      look();
    }
    pickLeft();
    if (!best_.empty()) {
      known().labels = relaxation_.labelsOf(best_);
    }
    return std::move(narrowed_);
  }

private:
  Solution &known() { return narrowed_.known; }
  bool isClosed() { return known().fits && known().gap() <= 0; }

  void look() {
    const Weights seconds{1, 0}, bytes{0, 1};
    Nodes fast = at(seconds);
    if (known().fits) {
      drop(seconds);
      return;
    }
    at({1, std::max<int64_t>(1, (kMost - most_.seconds) / (1 + most_.bytes))});
    if (!known().fits) {
      at(bytes);
    }
    if (!known().fits) {
      if (!best_.empty()) {
        drop(bytes);
      }
      return;
    }
    drop(cut(std::move(fast), best_));
  }

  // The weights of the highest bound, between labels that are fast and ones that fit.
  Weights cut(Nodes fast, Nodes small) {
    Weights best;
    int64_t bound = -1;
    for (int i = 0; i < kMostPrices && !isClosed() && !work_.isOver(); ++i) {
      const Price slow = relaxation_.priceOf(small), large = relaxation_.priceOf(fast);
      const int64_t more = slow.seconds - large.seconds, fewer = large.bytes - slow.bytes;
      if (!large.may() || more <= 0 || fewer <= 0) {
        break;
      }
      const __int128 divisor = 1 + (__int128(fewer) * most_.seconds + __int128(more) * most_.bytes) / kMost;
      const Weights weights{std::max<int64_t>(1, int64_t(fewer / divisor)), int64_t(more / divisor)};
      const int64_t before = known().bound;
      Nodes now = at(weights);
      if (known().bound > before || bound < 0) {
        bound = known().bound;
        best = weights;
      }
      const Price price = relaxation_.priceOf(now);
      offer(relaxation_.cross(now, small, limit_, {}));
      offer(relaxation_.cross(fast, now, limit_, {}));
      offer(relaxation_.cross(now, fast, limit_, {}));
      offer(relaxation_.cross(small, now, limit_, {}));
      if (!price.may() || price == slow || price == large) {
        break;
      }
      (price.bytes > limit_ ? fast : small) = std::move(now);
    }
    return best;
  }

  // Labels for these weights; keeps the bound, and the labels if they are best.
  Nodes at(Weights weights) {
    Nodes nodes = relaxation_.run(weights, kRounds, work_);
    raise(weights, relaxation_.bound(work_).least);
    offer(nodes);
    return nodes;
  }

  void raise(Weights weights, Cost least) {
    const auto quotient = [](Cost cost, int64_t weight) { return cost <= 0 ? 0 : (cost + weight - 1) / weight; };
    if (least == kNever) {
      known().bound = known().leastBytes = kNever;
    } else if (weights.second > 0) {
      known().bound = std::max(known().bound, quotient(least - limit_ * weights.byte, weights.second));
    } else {
      known().leastBytes = std::max(known().leastBytes, quotient(least, weights.byte));
      known().bound = known().leastBytes > limit_ ? kNever : known().bound;
    }
  }

  void offer(Nodes nodes) {
    Price price = nodes.empty() ? kImpossible : relaxation_.priceOf(nodes);
    if (!price.may()) {
      return;
    }
    const bool fits = price.bytes <= limit_;
    if (fits) {
      relaxation_.fill(nodes, limit_);
      price = relaxation_.priceOf(nodes);
    }
    const auto rank = [](bool fits, Price price) {
      return fits ? std::tuple(0, price.seconds, price.bytes) : std::tuple(1, price.bytes, price.seconds);
    };
    if (best_.empty() || rank(fits, price) < rank(known().fits, known().price)) {
      known().fits = fits;
      known().price = price;
      best_ = std::move(nodes);
    }
  }

  // What labels cost at most that may be better than the known ones, or if those do not fit, have as few bytes.
  Cost mostFor(Weights weights) {
    const Price price = known().price;
    return known().fits ? (price.seconds - 1) * weights.second + limit_ * weights.byte : price.bytes * weights.byte;
  }

  // Drops labels with which all costs more than is of use.
  void drop(Weights weights) {
    if (isClosed()) {
      return;
    }
    Relaxation::Bound bound;
    bool rises = true;
    for (int rounds = 0; rises && rounds < kMostRounds && (rounds == 0 || !work_.isOver()); rounds += kMoreRounds) {
      Nodes nodes = relaxation_.run(weights, kMoreRounds, work_, /*fresh=*/rounds == 0);
      const Cost before = bound.least;
      bound = relaxation_.bound(work_);
      rises = bound.least - before > bound.least / kHardly;
      raise(weights, bound.least);
      offer(relaxation_.cross(nodes, best_, limit_, {}));
      offer(relaxation_.cross(best_, nodes, limit_, {}));
    }
    for (int k : std::set<int>(classOf_.begin(), classOf_.end())) {
      for (size_t v = 0; v < narrowed_.left[k].size(); ++v) {
        std::vector<int> &left = narrowed_.left[k][v];
        const auto isNeedless = [&](int label) { return bound.marginals[k][v][label] > mostFor(weights); };
        left.erase(std::remove_if(left.begin(), left.end(), isNeedless), left.end());
      }
    }
    const auto isNone = [](const auto &block) {
      return std::any_of(block.begin(), block.end(), [](const auto &labels) { return labels.empty(); });
    };
    if (std::any_of(narrowed_.left.begin(), narrowed_.left.end(), isNone)) {
      known().bound = known().price.seconds; // nothing is better
      return;
    }
    // Both sides of a border have the same labels.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t place = 0; place + 1 < classOf_.size(); ++place) {
        const std::vector<int> &out = chain_.blocks[classOf_[place]].out, &in = chain_.blocks[classOf_[place + 1]].in;
        for (size_t i = 0; i < out.size(); ++i) {
          std::vector<int> &before = narrowed_.left[classOf_[place]][out[i]];
          std::vector<int> &behind = narrowed_.left[classOf_[place + 1]][in[i]];
          if (before != behind) {
            std::vector<int> both;
            std::set_union(before.begin(), before.end(), behind.begin(), behind.end(), std::back_inserter(both));
            before = behind = both;
            changed = true;
          }
        }
      }
    }
  }

  // Takes the labels that are not left out of the chain.
  void pickLeft() {
    for (size_t k = 0; k < chain_.blocks.size(); ++k) {
      Labelling &problem = narrowed_.chain.blocks[k].labelling;
      const auto pick = [&](auto &all, const std::vector<int> &left) {
        std::remove_reference_t<decltype(all)> some;
        for (int label : left) {
          some.push_back(all[label]);
        }
        all = std::move(some);
      };
      for (size_t v = 0; v < problem.own.size(); ++v) {
        pick(problem.own[v], narrowed_.left[k][v]);
      }
      for (Link &link : problem.links) {
        pick(link.firstClass, narrowed_.left[k][link.first]);
        pick(link.secondClass, narrowed_.left[k][link.second]);
      }
    }
  }

  const Chain &chain_;
  Work &work_;
  const std::vector<int> classOf_;
  const Price most_;
  const int64_t limit_;
  Relaxation relaxation_;
  Narrowed narrowed_;
  Nodes best_;
};

} // namespace

std::vector<int> placesOf(const Chain &chain) {
  std::vector<int> classOf;
  for (const Chain::Run &run : chain.runs) {
    classOf.insert(classOf.end(), run.copies, run.block);
  }
  return classOf;
}

Price mostOf(const Chain &chain) {
  Price most;
  for (const Chain::Run &run : chain.runs) {
    const Price one = mostOf(chain.blocks[run.block].labelling);
    most = most + Price{one.seconds * run.copies, one.bytes * run.copies};
  }
  return most;
}

Narrowed unnarrowed(const Chain &chain) {
  Narrowed all;
  all.chain = chain;
  for (const Block &block : chain.blocks) {
    std::vector<std::vector<int>> &left = all.left.emplace_back();
    for (const std::vector<Price> &own : block.labelling.own) {
      left.emplace_back(own.size());
      std::iota(left.back().begin(), left.back().end(), 0);
    }
  }
  return all;
}

Narrowed narrow(const Chain &chain, int64_t limit, Work &work) { return Narrowing(chain, limit, work).run(); }

} // namespace weft::search
