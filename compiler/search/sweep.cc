#include "compiler/search/sweep.h"

#include <algorithm>
#include <array>
#include <optional>

namespace weft::search {
namespace {

// How much more each of `b` is than its like of `a`, if that is the same for all.
std::optional<Cost> shiftOf(const std::vector<Cost> &a, const std::vector<Cost> &b) {
  std::optional<Cost> shift;
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i] >= kNever) != (b[i] >= kNever))
      return std::nullopt;
    if (a[i] >= kNever)
      continue;
    if (shift && *shift != b[i] - a[i])
      return std::nullopt;
    shift = b[i] - a[i];
  }
  return shift;
}

// Most of the time is spent in these two. Lowers each of `to` to what its like of `row` comes to with `cost`.
void addTo(Cost *to, const Cost *row, Cost cost, size_t count) {
#pragma clang loop vectorize(disable) // SSE2 compares no numbers of 64 bits
  for (size_t i = 0; i < count; ++i)
    to[i] = std::min(to[i], row[i] + cost);
}

// The least sum of two that are alike, in four parts that need not wait for each other.
Cost leastSum(const Cost *row, const Cost *costs, size_t count) {
  std::array<Cost, 4> least;
  least.fill(kNever);
  size_t i = 0;
  for (; i + least.size() <= count; i += least.size()) {
    for (size_t part = 0; part < least.size(); ++part)
      least[part] = std::min(least[part], row[i + part] + costs[i + part]);
  }
  for (; i < count; ++i)
    least[0] = std::min(least[0], row[i] + costs[i]);
  return *std::min_element(least.begin(), least.end());
}

} // namespace

Sweep::Sweep(std::vector<BlockClass> &classes, const std::vector<int> &classOf, Weights weights, Work &work)
    : classOf_(classOf), weights_(weights), before_(classOf.size() + 1), after_(classOf.size() + 1) {
  for (BlockClass &one : classes) {
    ins_.push_back(one.ins());
    outs_.push_back(one.outs());
    costs_.push_back(one.costs(weights, work));
  }
  before_.front() = after_.back() = {0};
  for (size_t place = 0; place < classOf.size(); ++place) {
    pass(place, /*forward=*/true);
    work.done += 2 * int64_t(costs_[classOf[place]].size());
  }
  for (size_t place = classOf.size(); place-- > 0;) {
    pass(place, /*forward=*/false);
  }
}

void Sweep::pass(size_t place, bool forward) {
  const int k = classOf_[place];
  const std::vector<Cost> &from = forward ? before_[place] : after_[place + 1];
  std::vector<Cost> &to = forward ? before_[place + 1] : after_[place];
  // Along blocks of one class the costs soon grow by the same from one to the next, whatever the state.
  const size_t previous = forward ? place - 1 : place + 1;
  if (previous < classOf_.size() && classOf_[previous] == k) {
    if (const std::optional<Cost> shift = shiftOf(forward ? before_[place - 1] : after_[place + 2], from)) {
      to = from;
      for (Cost &cost : to)
        cost = cost < kNever ? plus(cost, *shift) : kNever;
      return;
    }
  }
  to.assign(forward ? outs_[k] : ins_[k], kNever);
  // `to` is never above kNever, and twice that is no overflow: sums need no plus().
  const size_t outs = size_t(outs_[k]);
  const Cost *row = costs_[k].data();
  for (int in = 0; in < ins_[k]; ++in, row += outs) {
    if (forward && from[in] < kNever) {
      addTo(to.data(), row, from[in], outs);
    } else if (!forward) {
      to[in] = leastSum(row, from.data(), outs);
    }
  }
}

std::vector<Cost> Sweep::around(int k) const {
  std::vector<Cost> around(costs_[k].size(), kNever);
  for (size_t place = 0; place < classOf_.size(); ++place) {
    if (classOf_[place] != k) {
      continue;
    }
    Cost *least = around.data();
    for (Cost before : before_[place]) {
      for (Cost after : after_[place + 1]) {
        *least = std::min(*least, plus(before, after));
        ++least;
      }
    }
  }
  return around;
}

std::vector<int> Sweep::states() const {
  std::vector<int> states{0};
  for (size_t place = 0; place < classOf_.size(); ++place) {
    const int k = classOf_[place], state = states.back();
    const auto cost = [&](int out) { return plus(costs_[k][size_t(state) * outs_[k] + out], after_[place + 1][out]); };
    int next = state < outs_[k] ? state : 0; // staying is as good as anything, so that copies are alike
    for (int out = 0; out < outs_[k]; ++out) {
      next = cost(out) < cost(next) ? out : next;
    }
    states.push_back(next);
  }
  return states;
}

} // namespace weft::search
