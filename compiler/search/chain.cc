#include "compiler/search/chain.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "compiler/search/assembly.h"
#include "compiler/search/block_class.h"

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

// Points that mixtures of known labels have at most.
constexpr size_t kMixedPoints = 64;

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
    ins_.resize(classes_.size());
    outs_.resize(classes_.size());
    met_.resize(classes_.size());
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
        bytesFirst{1, std::max<int64_t>(1, (kMost - most_.seconds) / (1 + most_.bytes))};
    const Price fast = look(seconds);
    if (isClosed() || best_.bound == kNever) {
      return best_;
    }
    look(bytesFirst);
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
    evaluate(seconds);
    while (divide(seconds, kNever)) {
      evaluate(seconds);
    }
    const std::vector<BlockFrontiers> blocks = isExact() ? frontiers(effort_.points) : std::vector<BlockFrontiers>();
    if (blocks.empty()) {
      return {{}, kNever};
    }
    const Assembly whole(blocks, classOf_, {}, effort_.points, work_);
    return whole.isComplete() ? WholeFrontier{whole.points(), whole.lost()} : WholeFrontier{{}, kNever};
  }

private:
  // Labels of a block that were met.
  struct Met {
    int in, out;
    Price price;
    std::vector<int> labels;
  };

  bool isClosed() const {
    return best_.fits && __int128(best_.gap()) * 1'000'000 <= __int128(effort_.enough) * best_.price.seconds;
  }
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
    mix(weights);
    if (best_.fits) {
      best_.bound = std::min(best_.bound, best_.price.seconds); // what was dropped may be as good
    }
    return price;
  }

  // States that the best labels of the last evaluation go through, before each place and in the end.
  std::vector<int> states() const {
    std::vector<int> states{0};
    for (size_t i = 0; i < classOf_.size(); ++i) {
      const int k = classOf_[i], outs = classes_[k].outs(), state = states.back();
      const auto cost = [&](int out) { return plus(costs_[k][size_t(state) * outs + out], after_[i + 1][out]); };
      int next = state < outs ? state : 0; // staying is as good as anything, so that copies are alike
      for (int out = 0; out < outs; ++out) {
        next = cost(out) < cost(next) ? out : next;
      }
      states.push_back(next);
    }
    return states;
  }

  // The labels that the last evaluation led to. All ways between states that some labels went through are remembered.
  std::vector<std::vector<int>> labels() {
    const std::vector<int> states = this->states();
    for (size_t i = 0; i < classOf_.size(); ++i) {
      ins_[classOf_[i]].insert(states[i]);
      outs_[classOf_[i]].insert(states[i + 1]);
    }
    std::vector<std::map<std::pair<int, int>, std::vector<int>>> now(classes_.size());
    for (size_t k = 0; k < classes_.size(); ++k) {
      for (int in : ins_[k]) {
        for (int out : outs_[k]) {
          std::vector<int> labels = classes_[k].labels(in, out);
          const Price price = labels.empty() ? kImpossible : priceOf(chain_.blocks[k].labelling, labels);
          if (price.may()) {
            met_[k].push_back({in, out, price, labels});
          }
          now[k][{in, out}] = std::move(labels);
        }
      }
    }
    std::vector<std::vector<int>> labels;
    for (size_t i = 0; i < classOf_.size(); ++i) {
      labels.push_back(now[classOf_[i]][{states[i], states[i + 1]}]);
    }
    return labels;
  }

  // Puts chains together of labels that were met: some copies have these, others those. After an evaluation.
  void mix(Weights weights) {
    if (classOf_.size() < 2 || isClosed()) {
      return;
    }
    std::vector<BlockFrontiers> blocks;
    for (size_t k = 0; k < classes_.size(); ++k) {
      std::map<size_t, Frontier> known;
      for (const Met &met : met_[k]) {
        known[size_t(met.in) * classes_[k].outs() + met.out].push_back(met.price);
      }
      FrontierTable table;
      for (size_t pair = 0; pair < size_t(classes_[k].ins()) * classes_[k].outs(); ++pair) {
        table.begin.push_back(table.points.size());
        if (auto it = known.find(pair); it != known.end()) {
          keepUndominated(it->second);
          table.points.insert(table.points.end(), it->second.begin(), it->second.end());
        }
      }
      table.begin.push_back(table.points.size());
      blocks.push_back({classes_[k].ins(), classes_[k].outs(), std::move(table)});
    }
    const std::vector<Ahead> ahead = {{weights, mostFor(weights), after_}};
    const Assembly mixed(blocks, classOf_, ahead, kMixedPoints, work_);
    // The last of the points that fit is the fastest.
    const auto fit = mixed.isComplete() ? std::find_if(mixed.points().rbegin(), mixed.points().rend(),
                                                       [&](Price price) { return price.bytes <= limit_; })
                                        : mixed.points().rend();
    if (fit == mixed.points().rend()) {
      return;
    }
    std::vector<std::vector<int>> labels;
    for (const Assembly::Step &step : mixed.stepsTo(*fit)) {
      const std::vector<Met> &all = met_[classOf_[labels.size()]];
      labels.push_back(std::find_if(all.begin(), all.end(), [&](const Met &met) {
                         return met.in == step.in && met.out == step.out && met.price == step.point;
                       })->labels);
    }
    offer(std::move(labels));
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

  // Drops what the best labels and these weights rule out. The rest is much less to go through.
  void shrink(Weights weights) {
    if (isClosed() || work_.isOver()) {
      return;
    }
    evaluate(weights);
    for (size_t k = 0; k < classes_.size(); ++k) {
      classes_[k].shrink(around(k), mostFor(weights), work_);
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
        evaluate(weight);
        for (size_t k = 0; k < classes_.size(); ++k) {
          classes_[k].complete(around(k), mostFor(weight), work_);
        }
        ahead.push_back({weight, mostFor(weight), after_});
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
        std::vector<std::vector<int>> labels;
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

  const Chain &chain_;
  const Effort effort_;
  Work work_;
  std::vector<BlockClass> classes_;
  std::vector<int> classOf_; // of each place
  Price most_;               // what labels can take at most
  int64_t limit_ = 0;
  Solution best_;
  std::vector<std::set<int>> ins_, outs_; // of each class, the states that labels went through
  std::vector<std::vector<Met>> met_;
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
