#include "compiler/passes/shard/box_costs.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "compiler/analysis/boxing.h"
#include "llvm/ADT/SmallVector.h"

namespace weft::compiler {

using ir::SbpState;

namespace {
// How many times its seconds a box counts that changes a value which should keep its state (SolverValue::keepSplit and
// keepState), since its seconds are not all that it costs: a gathered parameter takes memory, ranks of a batch wait for
// each other, and gathered state lies beside its old copy. A weight whose gather takes 10 us stays split unless that
// costs 10 ms elsewhere.
constexpr double kKeepFactor = 1000;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
} // namespace

double boxSeconds(const SolverValue &value, SbpState from, SbpState to, const plan::Spread &axis,
                  const CostModel &machine) {
  double seconds = transitionSeconds(from, to, value.bytes, axis, machine);
  if (value.keepState || (value.keepSplit && from.isSplit())) {
    return seconds * kKeepFactor;
  }
  return value.overlapped && from.isPartial() ? seconds * kExposedShare : seconds;
}

BoxCosts::BoxCosts(const std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values,
                   const plan::Spread &axis, const CostModel &machine)
    : nodes_(nodes), values_(values), axis_(axis), machine_(machine) {
  for (const SolverValue &value : values) {
    Known &known = known_.emplace_back();
    known.firstState = int(states_.size());
    known.firstRead = int(reads_.size());
    known.made = {value.producer, int(numbers_.size())};
    if (value.producer < 0) {
      numbers_.push_back(numberOf(value.fixed));
    } else {
      for (const ir::Signature *s : nodes[value.producer].candidates) {
        numbers_.push_back(numberOf(s->results[value.result]));
      }
    }
    for (SolverValue::Use use : value.uses) {
      reads_.push_back({use.node, int(numbers_.size()), nodes[use.node].moves[use.operand]});
      for (const ir::Signature *s : nodes[use.node].candidates) {
        numbers_.push_back(numberOf(s->operands[use.operand]));
      }
    }
    known.lastRead = int(reads_.size());
    known.states = int(states_.size()) - known.firstState;
    known.firstPrice = int(prices_.size());
    prices_.resize(prices_.size() + size_t(known.states) * size_t(known.states + 1), kUnknown);
  }
}

uint8_t BoxCosts::numberOf(SbpState state) {
  const auto first = states_.begin() + known_.back().firstState, it = std::find(first, states_.end(), state);
  const auto number = it - first;
  assert(number <= std::numeric_limits<uint8_t>::max());
  if (it == states_.end()) {
    states_.push_back(state);
  }
  return uint8_t(number);
}

double BoxCosts::price(int index, int from, int to) const {
  const Known &known = known_[index];
  double &price = prices_[known.firstPrice + from * known.states + to];
  if (std::isnan(price)) {
    price =
        boxSeconds(values_[index], states_[known.firstState + from], states_[known.firstState + to], axis_, machine_);
  }
  return price;
}

double BoxCosts::priceFromBroadcast(int index, int to) const {
  const Known &known = known_[index];
  double &price = prices_[known.firstPrice + known.states * known.states + to];
  if (std::isnan(price)) {
    price =
        transitionSeconds(SbpState::broadcast(), states_[known.firstState + to], values_[index].bytes, axis_, machine_);
  }
  return price;
}

double BoxCosts::secondsOf(int index) const {
  const SolverValue &value = values_[index];
  if (value.free) {
    return 0;
  }
  const Known &known = known_[index];
  const auto isBroadcast = [&](int state) { return states_[known.firstState + state].kind == SbpState::Broadcast; };
  const int from = madeAs(index);
  llvm::SmallVector<std::pair<int, double>, 4> wanted; // and how often
  bool broadcast = isBroadcast(from);
  for (int read = known.firstRead; read < known.lastRead; ++read) {
    const int want = numberAt(reads_[read]);
    if (want == from) {
      continue;
    }
    auto it = std::find_if(wanted.begin(), wanted.end(), [&](const auto &entry) { return entry.first == want; });
    if (it == wanted.end()) {
      wanted.push_back({want, reads_[read].moves});
      broadcast |= isBroadcast(want);
    } else {
      it->second = std::max(it->second, reads_[read].moves);
    }
  }
  double seconds = 0;
  for (auto [want, weight] : wanted) {
    double cost = price(index, from, want);
    if (broadcast && !isBroadcast(want)) {
      cost = std::min(cost, priceFromBroadcast(index, want));
    }
    seconds += cost * weight;
  }
  return seconds * value.count;
}

} // namespace weft::compiler
