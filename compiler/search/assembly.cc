#include "compiler/search/assembly.h"

#include <algorithm>

namespace weft::search {
namespace {

// New points are put in order after so many.
constexpr size_t kUnsorted = 256;

// One of some points of a frontier, which are in order, takes no more.
bool isDominated(Price price, const Price *first, const Price *last) {
  const Price *next =
      std::upper_bound(first, last, price.bytes, [](int64_t bytes, Price point) { return bytes < point.bytes; });
  return next != first && next[-1].seconds <= price.seconds;
}

} // namespace

Assembly::Assembly(const std::vector<BlockFrontiers> &classes, const std::vector<int> &classOf,
                   const std::vector<Ahead> &ahead, size_t cap, Work &work)
    : classes_(classes), classOf_(classOf) {
  for (const BlockFrontiers &one : classes) {
    std::vector<std::vector<int>> &inputs = inputs_.emplace_back(one.outs);
    for (int in = 0; in < one.ins; ++in) {
      for (int out = 0; out < one.outs; ++out) {
        if (one.table.count(size_t(in) * one.outs + out) > 0) {
          inputs[out].push_back(in);
        }
      }
    }
  }
  before_ = {{{Price{}}}};
  for (size_t place = 0; place < classOf.size() && complete_; ++place) {
    complete_ = add(place, ahead, cap, work);
  }
}

bool Assembly::add(size_t place, const std::vector<Ahead> &ahead, size_t cap, Work &work) {
  const BlockFrontiers &one = classes_[classOf_[place]];
  std::vector<Frontier> next(one.outs);
  int64_t lost = 0;
  for (int out = 0; out < one.outs; ++out) {
    const auto isPossible = [&](Price price) {
      return std::all_of(ahead.begin(), ahead.end(), [&](const Ahead &some) {
        return plus(some.weights.of(price), some.costs[place + 1][out]) <= some.most;
      });
    };
    Frontier &made = next[out];
    size_t sorted = 0; // so many points at the front are undominated and in order
    for (int in : inputs_[classOf_[place]][out]) {
      const size_t pair = size_t(in) * one.outs + out;
      for (size_t p = 0; p < one.table.count(pair); ++p) {
        for (const Price price : before_[place][in]) {
          const Price both = price + one.table.first(pair)[p];
          if (isPossible(both) && !isDominated(both, made.data(), made.data() + sorted)) {
            made.push_back(both);
          }
        }
        if (made.size() > 2 * sorted + kUnsorted) {
          keepUndominated(made);
          sorted = made.size();
        }
      }
      work.done += kPointWork * int64_t(1 + one.table.count(pair) * before_[place][in].size());
      if (work.isOver() || points_ + made.size() > kMostPoints) {
        return false;
      }
    }
    keepUndominated(next[out]);
    lost = std::max(lost, coarsen(next[out], cap));
    points_ += next[out].size();
  }
  lost_ = plus(lost_, plus(lost, one.lost));
  before_.push_back(std::move(next));
  return true;
}

std::vector<Assembly::Step> Assembly::stepsTo(Price point) const {
  std::vector<Step> steps(classOf_.size());
  int out = 0;
  for (size_t place = classOf_.size(); place-- > 0;) {
    steps[place] = last(place, out, point);
    point = {point.seconds - steps[place].point.seconds, point.bytes - steps[place].point.bytes};
    out = steps[place].in;
  }
  return steps;
}

Assembly::Step Assembly::last(size_t place, int out, Price sought) const {
  const BlockFrontiers &one = classes_[classOf_[place]];
  for (int in : inputs_[classOf_[place]][out]) {
    const size_t pair = size_t(in) * one.outs + out;
    for (size_t p = 0; p < one.table.count(pair); ++p) {
      const Price point = one.table.first(pair)[p];
      const Price rest{sought.seconds - point.seconds, sought.bytes - point.bytes};
      const Frontier &before = before_[place][in];
      if (std::find(before.begin(), before.end(), rest) != before.end()) {
        return {in, out, point};
      }
    }
  }
  return {}; // never: every point was made so
}

} // namespace weft::search
