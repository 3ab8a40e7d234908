#include "compiler/search/chain.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/search/block_class.h"

namespace weft::search {
namespace {

// Weighted costs of what may be are below this.
constexpr int64_t kMost = kNever / 2;

// Prices of a byte that are tried at most; they are found by cutting planes, and few problems need more than ten.
constexpr int kMostPrices = 24;

// Points that a frontier may have at first. Each time that it was too few, it may have so many times more.
constexpr size_t kFirstPoints = 8, kMorePoints = 8;

// What labels can take at most.
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

class Search {
public:
  Search(const Chain &chain, int64_t limit, const Effort &effort)
      : chain_(chain), effort_(effort), work_{0, effort.work} {
    for (const Block &block : chain.blocks) {
      classes_.emplace_back(block, effort.table);
    }
    for (const Chain::Run &run : chain.runs) {
      classOf_.insert(classOf_.end(), run.copies, run.block);
    }
    for (int k : classOf_) {
      most_ = most_ + mostOf(chain.blocks[k].labelling);
    }
    limit_ = std::clamp<int64_t>(limit, -1, most_.bytes);
  }

  Solution solve() {
    const Weights seconds{1, 0}, bytes{0, 1},
        secondsFirst{std::max<int64_t>(1, (kMost - most_.bytes) / (1 + most_.seconds)), 1},
        bytesFirst{1, std::max<int64_t>(1, (kMost - most_.seconds) / (1 + most_.bytes))};
    look(seconds);
    if (isClosed()) {
      return best_;
    }
    Price fast = look(secondsFirst);
    if (isClosed()) {
      return best_;
    }
    look(bytes);
    while (!best_.fits && (best_.labels.empty() || best_.price.bytes > best_.leastBytes) && divide(bytes, kNever)) {
      look(bytes);
    }
    if (best_.bound == kNever) {
      return best_;
    }
    look(bytesFirst);
    Weights price = best_.fits && fast.bytes > limit_ ? cut(fast, best_.price) : seconds;
    while (!isClosed() && divide(price, mostFor(price))) {
      look(price);
    }
    assemble({price, seconds, bytes});
    return best_;
  }

  WholeFrontier frontier() {
    const Weights seconds{1, 0};
    evaluate(seconds);
    while (divide(seconds, kNever)) {
      evaluate(seconds);
    }
    Assembly all(*this);
    if (!isExact() || !all.run({}, effort_.points)) {
      return {{}, kNever};
    }
    return {all.points(), all.lost()};
  }

private:
  // Frontiers of all blocks, put together from the left.
  class Assembly {
  public:
    explicit Assembly(Search &search) : search_(search) {}

    // False: there was too much work.
    bool run(const std::vector<Weights> &weights, size_t cap) {
      std::vector<std::vector<std::vector<Cost>>> after; // a weight, a place, a state
      std::vector<Cost> most;
      for (BlockClass &one : search_.classes_) {
        one.clear();
      }
      for (const Weights &weight : weights) {
        search_.evaluate(weight);
        most.push_back(search_.mostFor(weight));
        for (size_t k = 0; k < search_.classes_.size(); ++k) {
          search_.classes_[k].complete(weight, search_.around(k), most.back(), search_.work_);
        }
        after.push_back(search_.after_);
      }
      for (BlockClass &one : search_.classes_) {
        tables_.push_back(one.frontiers(cap, search_.work_));
        if (!one.isComplete()) {
          return false;
        }
      }
      before_ = {{{Price{}}}};
      for (size_t i = 0; i < search_.classOf_.size(); ++i) {
        const BlockClass &one = search_.classes_[search_.classOf_[i]];
        const FrontierTable &table = tables_[search_.classOf_[i]];
        std::vector<Frontier> &next = before_.emplace_back(one.outs());
        int64_t lost = 0;
        for (int out = 0; out < one.outs(); ++out) {
          Frontier &made = next[out];
          for (int in = 0; in < one.ins(); ++in) {
            const size_t pair = size_t(in) * one.outs() + out;
            const Frontier &mine = before_[i][in];
            for (size_t p = 0; p < table.count(pair); ++p) {
              for (const Price price : mine) {
                const Price both = price + table.first(pair)[p];
                bool is = true;
                for (size_t w = 0; is && w < weights.size(); ++w) {
                  is = plus(weights[w].of(both), after[w][i + 1][out]) <= most[w];
                }
                if (is) {
                  made.push_back(both);
                }
              }
            }
            search_.work_.done += int64_t(1 + mine.size() * table.count(pair));
            if (search_.work_.isOver()) {
              return false;
            }
          }
          keepUndominated(made);
          lost = std::max(lost, coarsen(made, cap));
        }
        lost_ += lost + one.lost();
      }
      return true;
    }

    const Frontier &points() const { return before_.back()[0]; }
    int64_t lost() const { return std::min(lost_, kNever); }

    // Labels of each block for the last point, the fastest one.
    std::vector<std::vector<int>> labels() const {
      const size_t count = search_.classOf_.size();
      std::vector<std::vector<int>> labels(count);
      Price sought = points().back();
      int out = 0;
      for (size_t i = count; i-- > 0;) {
        const int k = search_.classOf_[i];
        const BlockClass &one = search_.classes_[k];
        const auto [in, point] = step(i, out, sought);
        labels[i] = one.labels(in, out, point);
        sought = {sought.seconds - point.seconds, sought.bytes - point.bytes};
        out = in;
      }
      return labels;
    }

  private:
    // A state before place i, and a point of its block, that lead to `sought` at state `out`.
    std::pair<int, Price> step(size_t i, int out, Price sought) const {
      const BlockClass &one = search_.classes_[search_.classOf_[i]];
      const FrontierTable &table = tables_[search_.classOf_[i]];
      for (int in = 0; in < one.ins(); ++in) {
        const size_t pair = size_t(in) * one.outs() + out;
        for (size_t p = 0; p < table.count(pair); ++p) {
          const Price point = table.first(pair)[p], rest{sought.seconds - point.seconds, sought.bytes - point.bytes};
          if (std::find(before_[i][in].begin(), before_[i][in].end(), rest) != before_[i][in].end()) {
            return {in, point};
          }
        }
      }
      return {0, {}}; // every point was made so
    }

    Search &search_;
    std::vector<FrontierTable> tables_;         // a class
    std::vector<std::vector<Frontier>> before_; // a place, a state
    int64_t lost_ = 0;
  };

  bool isClosed() const { return best_.fits && best_.bound == best_.price.seconds; }
  bool isExact() const {
    return std::all_of(classes_.begin(), classes_.end(), [](const BlockClass &one) { return one.isExact(); });
  }

  // The least cost of all labels that are left; a lower bound if there are open cases.
  Cost evaluate(Weights weights) {
    costs_.clear();
    for (BlockClass &one : classes_) {
      costs_.push_back(one.costs(weights, work_));
    }
    const size_t count = classOf_.size();
    before_.assign(count + 1, {});
    after_.assign(count + 1, {});
    before_[0] = after_[count] = {0};
    const auto pass = [&](size_t i, bool forward) {
      const BlockClass &one = classes_[classOf_[i]];
      const std::vector<Cost> &from = forward ? before_[i] : after_[i + 1];
      std::vector<Cost> &to = forward ? before_[i + 1] : after_[i];
      to.assign(forward ? one.outs() : one.ins(), kNever);
      const Cost *cost = costs_[classOf_[i]].data();
      for (int in = 0; in < one.ins(); ++in) {
        for (int out = 0; out < one.outs(); ++out, ++cost) {
          Cost &least = to[forward ? out : in];
          least = std::min(least, plus(*cost, from[forward ? in : out]));
        }
      }
      work_.done += int64_t(one.ins()) * one.outs();
    };
    for (size_t i = 0; i < count; ++i) {
      pass(i, /*forward=*/true);
    }
    for (size_t i = count; i-- > 0;) {
      pass(i, /*forward=*/false);
    }
    return after_[0][0];
  }

  // What all else costs at least for each pair of states of a class, at the place where that is least.
  std::vector<Cost> around(size_t k) const {
    std::vector<Cost> around(size_t(classes_[k].ins()) * classes_[k].outs(), kNever);
    for (size_t i = 0; i < classOf_.size(); ++i) {
      if (classOf_[i] != int(k)) {
        continue;
      }
      Cost *least = around.data();
      for (Cost before : before_[i]) {
        for (Cost after : after_[i + 1]) {
          *least = std::min(*least, plus(before, after));
          ++least;
        }
      }
    }
    return around;
  }

  // What labels cost at most that fit and are faster than the best ones.
  Cost mostFor(Weights weights) const {
    const int64_t seconds = best_.fits ? best_.price.seconds - 1 : most_.seconds;
    return seconds * weights.second + limit_ * weights.byte;
  }

  // Takes the best labels for these weights, raises the bounds, and says what the labels take.
  Price look(Weights weights) {
    const Cost least = evaluate(weights);
    if (least == kNever) {
      // Nothing is left: what was dropped does not fit, or is no faster than the best labels.
      best_.bound = best_.fits ? best_.price.seconds : kNever;
      best_.leastBytes = best_.labels.empty() ? kNever : best_.leastBytes;
      return kImpossible;
    }
    const auto quotient = [](Cost cost, int64_t weight) { return cost <= 0 ? 0 : (cost + weight - 1) / weight; };
    if (weights.second > 0) {
      best_.bound = std::max(best_.bound, quotient(least - limit_ * weights.byte, weights.second));
    } else {
      best_.leastBytes = std::max(best_.leastBytes, quotient(least, weights.byte));
      best_.bound = best_.leastBytes > limit_ ? kNever : best_.bound;
    }
    const Price price = offer(labels());
    if (best_.fits) {
      best_.bound = std::min(best_.bound, best_.price.seconds); // what was dropped may be as good
    }
    return price;
  }

  // The labels that the last evaluation led to.
  std::vector<std::vector<int>> labels() const {
    std::vector<std::vector<int>> labels;
    std::map<std::tuple<int, int, int>, std::vector<int>> known;
    int state = 0;
    for (size_t i = 0; i < classOf_.size(); ++i) {
      const int k = classOf_[i], outs = classes_[k].outs();
      const auto cost = [&](int out) { return plus(costs_[k][size_t(state) * outs + out], after_[i + 1][out]); };
      int next = state < outs ? state : 0; // staying is as good as anything, so that copies are alike
      for (int out = 0; out < outs; ++out) {
        next = cost(out) < cost(next) ? out : next;
      }
      auto [it, added] = known.try_emplace({k, state, next});
      if (added) {
        it->second = classes_[k].labels(state, next);
      }
      labels.push_back(it->second);
      state = next;
    }
    return labels;
  }

  // Keeps labels if they are better than the best ones.
  Price offer(std::vector<std::vector<int>> labels) {
    Price price;
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
      best_.labels = std::move(labels);
    }
    return price;
  }

  // Weights whose bound is highest, between labels that are fast and ones that fit: each price of a byte makes both
  // equally good, until none is better (Kelley's cutting planes, J. SIAM 8, 1960, on a line).
  Weights cut(Price fast, Price small) {
    Weights best;
    int64_t bound = -1;
    for (int i = 0; i < kMostPrices && !isClosed() && small.seconds > fast.seconds && (i == 0 || !work_.isOver());
         ++i) {
      const __int128 more = small.seconds - fast.seconds, fewer = fast.bytes - small.bytes;
      const __int128 divisor = 1 + (fewer * most_.seconds + more * most_.bytes) / kMost;
      const Weights weights{std::max<int64_t>(1, int64_t(fewer / divisor)), int64_t(more / divisor)};
      const int64_t before = best_.bound;
      const Price price = look(weights);
      if (best_.bound > before || bound < 0) {
        bound = best_.bound;
        best = weights;
      }
      if (!price.may() || weights.of(price) >= std::min(weights.of(fast), weights.of(small))) {
        break;
      }
      (price.bytes > limit_ ? fast : small) = price;
    }
    return best;
  }

  // Divides the open case that costs least, after dropping what costs more than `most`; false if there is none, none
  // that costs less than all others, or no effort. `most` kNever: nothing is dropped.
  bool divide(Weights weights, Cost most) {
    if (work_.isOver()) {
      return false;
    }
    evaluate(weights);
    BlockClass::Least least;
    size_t best = 0;
    for (size_t k = 0; k < classes_.size(); ++k) {
      if (most < kNever) {
        classes_[k].drop(around(k), most);
      }
      const BlockClass::Least mine = classes_[k].least(around(k));
      best = mine.open < least.open ? k : best;
      least = {std::min(least.open, mine.open), std::min(least.closed, mine.closed)};
    }
    if (least.open == kNever) {
      return false;
    }
    classes_[best].divide(around(best));
    return true;
  }

  // Puts frontiers together that hold all that is better than what is known, with ever more points.
  void assemble(const std::vector<Weights> &weights) {
    for (size_t cap = kFirstPoints; !isClosed() && isExact() && !work_.isOver(); cap *= kMorePoints) {
      cap = std::min(cap, effort_.points);
      Assembly assembly(*this);
      if (!assembly.run(weights, cap)) {
        return;
      }
      if (!assembly.points().empty()) {
        offer(assembly.labels());
      }
      // Points that are left out have fewer bytes than what is kept, so that none at all means that none fit.
      best_.bound = best_.fits ? std::max(best_.bound, best_.price.seconds - assembly.lost()) : kNever;
      if (cap == effort_.points) {
        return;
      }
    }
  }

  const Chain &chain_;
  const Effort effort_;
  Work work_;
  std::vector<BlockClass> classes_;
  std::vector<int> classOf_; // of each place
  Price most_;               // what labels can take at most
  int64_t limit_ = 0;
  Solution best_;
  // Of the last evaluation: a class, a pair of states; a place, a state.
  std::vector<std::vector<Cost>> costs_, before_, after_;
};

} // namespace

Solution solve(const Chain &chain, int64_t limit, const Effort &effort) { return Search(chain, limit, effort).solve(); }

Solution solve(const Labelling &problem, int64_t limit, const Effort &effort) {
  return solve(Chain{{{problem, {}, {}}}, {{0, 1}}}, limit, effort);
}

WholeFrontier frontierOf(const Chain &chain, const Effort &effort) { return Search(chain, kNever, effort).frontier(); }

} // namespace weft::search
