#include "compiler/passes/schedule/tier_stream.h"

#include <map>

#include "compiler/analysis/layer.h"
#include "compiler/dialect/task/registers.h"
#include "llvm/ADT/MapVector.h"

namespace weft::compiler {
namespace {

using mlir::Operation;
using mlir::Value;

double bytesOf(task::MoveKernel move) { return (*move.getCost())[2]; }

// By the rates of the tier.
double secondsOf(task::MoveKernel move, const CostModel &machine) {
  const plan::TierRates *tier = plan::FindTier(machine, task::tierOf(move.getInTier()).str());
  return tier ? plan::TierSeconds(*tier, bytesOf(move), move.fetches()) : 0;
}

// The last of `micro` behind which it still computes for so long: what it makes. Null: all of it takes less.
Value madeBefore(double seconds, llvm::ArrayRef<Operation *> micro, const CostModel &machine) {
  for (Operation *op : llvm::reverse(micro)) {
    auto kernel = llvm::dyn_cast<task::KernelOp>(op);
    if (!kernel || !kernel.getCost() || llvm::isa<task::InputKernel, task::SumKernel>(op)) {
      continue;
    }
    llvm::ArrayRef<double> cost = *kernel.getCost();
    if (seconds <= 0 && !kernel.getOutputs().empty() && !task::isState(task::rootOf(kernel.getOutputs()[0]))) {
      return kernel.getOutputs()[0];
    }
    seconds -= plan::KernelSeconds(machine, {cost[0], cost[1], cost[2], {}, kernel.getName().str()});
  }
  return {};
}

} // namespace

// Of the state in a tier, what is on the device at one time. `first` and `last` are places of the work that uses it.
struct TierStream::Part {
  llvm::SmallVector<task::MoveKernel> fetches, stores;
  size_t first = 0, last = 0;
  double bytes = 0;
};

TierStream::TierStream(llvm::ArrayRef<Operation *> work, llvm::ArrayRef<Operation *> micro, const CostModel &machine) {
  llvm::SmallVector<Operation *> computed;
  llvm::MapVector<Value, Part> states; // by the buffer on the device
  for (Operation *op : work) {
    auto move = llvm::dyn_cast<task::MoveKernel>(op);
    if (!move) {
      computed.push_back(op);
      continue;
    }
    Part &state = states[task::rootOf(move.getOnDevice())];
    state.first = work.size();
    state.bytes = bytesOf(move);
    (move.fetches() ? state.fetches : state.stores).push_back(move);
  }
  for (auto [place, op] : llvm::enumerate(computed)) {
    for (Value operand : op->getOperands()) {
      auto it = states.find(task::rootOf(operand));
      if (it != states.end()) {
        it->second.first = std::min(it->second.first, place);
        it->second.last = std::max(it->second.last, place);
      }
    }
  }
  // What one kernel uses first, in the order of use.
  std::map<size_t, Part> byFirst;
  double most = 0;
  auto join = [](const Part &from, Part &into) {
    llvm::append_range(into.fetches, from.fetches);
    llvm::append_range(into.stores, from.stores);
    into.last = std::max(into.last, from.last);
    into.bytes += from.bytes;
  };
  for (const auto &[buffer, state] : states) {
    Part &part = byFirst[state.first];
    part.first = state.first;
    join(state, part);
    most = std::max(most, part.bytes);
  }
  std::vector<Part> parts;
  for (const auto &[first, part] : byFirst) {
    if (parts.empty() || parts.back().bytes + part.bytes > most) {
      parts.push_back(part);
    } else {
      join(part, parts.back());
    }
  }
  double ahead = 0; // of the first two
  for (const Part &part : llvm::ArrayRef(parts).take_front(2)) {
    for (task::MoveKernel fetch : part.fetches) {
      ahead += secondsOf(fetch, machine);
    }
  }
  if (!parts.empty()) {
    add(parts[0], /*fetches=*/true);
    if (Value made = moves_.empty() ? Value() : madeBefore(ahead, micro, machine)) {
      moves_[0].after.push_back(made);
    }
  }
  size_t next = 0; // part to be used
  for (auto [place, op] : llvm::enumerate(computed)) {
    if (next < parts.size() && parts[next].first == place) {
      ++next;
      begins_.insert(op);
      if (next < parts.size()) {
        add(parts[next], /*fetches=*/true);
      }
    }
    order_.push_back(op);
    for (const Part &part : llvm::ArrayRef(parts).take_front(next)) {
      if (part.last == place) {
        add(part, /*fetches=*/false);
      }
    }
  }
}

void TierStream::add(const Part &part, bool fetches) {
  const llvm::SmallVector<task::MoveKernel> &moves = fetches ? part.fetches : part.stores;
  if (moves.empty()) {
    return;
  }
  order_.push_back(task::MoveKernel(moves.front()).getOperation());
  moveAt_[order_.back()] = moves_.size();
  ActorWork &work = moves_.emplace_back();
  for (task::MoveKernel move : moves) {
    work.work.push_back(move.getOperation());
  }
  work.apart = true;
}

namespace {

// Where a layer is among the portions of a unit: its first kernel, and behind its last.
struct Place {
  llvm::StringRef layer;
  size_t begin = 0, end = 0;
};

std::vector<Place> placesOf(llvm::ArrayRef<ActorWork> portions) {
  std::vector<Place> places;
  for (auto [i, portion] : llvm::enumerate(portions)) {
    llvm::StringRef layer = layerOf(ir::scopeOf(portion.work.front()));
    if (layer.empty() || !llvm::isa<task::KernelOp>(portion.work.front())) {
      continue;
    }
    auto it = llvm::find_if(places, [&](const Place &place) { return place.layer == layer; });
    if (it == places.end()) {
      places.push_back({layer, i, i + 1});
    } else {
      it->end = i + 1;
    }
  }
  return places;
}

// What the last kernel before a portion makes; null if there is none.
Value madeBefore(size_t at, llvm::ArrayRef<ActorWork> portions) {
  for (const ActorWork &portion : llvm::reverse(portions.take_front(at))) {
    auto kernel = llvm::dyn_cast<task::KernelOp>(portion.work.front());
    if (kernel && !kernel.getOutputs().empty() && !task::isState(task::rootOf(kernel.getOutputs()[0]))) {
      return kernel.getOutputs()[0];
    }
  }
  return {};
}

} // namespace

std::vector<ActorWork> withMoves(std::vector<ActorWork> portions, llvm::ArrayRef<task::MoveKernel> moves) {
  if (moves.empty()) {
    return portions;
  }
  const std::vector<Place> places = placesOf(portions);
  std::multimap<size_t, ActorWork> added;                                  // before the portion of that number
  llvm::MapVector<std::pair<llvm::StringRef, int64_t>, ActorWork> ofLayer; // and whether they are fetches
  for (task::MoveKernel move : moves) {
    ofLayer[{layerOf(ir::scopeOf(move)), int64_t(move.fetches())}].work.push_back(move.getOperation());
  }
  for (auto &[key, work] : ofLayer) {
    auto [layer, fetches] = key;
    auto it = llvm::find_if(places, [layer = layer](const Place &place) { return place.layer == layer; });
    const size_t k = size_t(it - places.begin());
    work.apart = true;
    if (fetches) {
      const size_t at = k > 0 && it != places.end() ? places[k - 1].begin : 0;
      if (Value made = madeBefore(at, portions)) {
        work.after.push_back(made);
      }
      added.emplace(at, work);
      continue;
    }
    if (k + 2 < places.size()) {
      ActorWork &waits = portions[places[k + 2].begin];
      waits.after.push_back(task::MoveKernel(llvm::cast<task::KernelOp>(work.work.front())).getInTier());
      waits.apart = true;
    }
    added.emplace(it == places.end() ? portions.size() : it->end, work);
  }
  std::vector<ActorWork> all;
  auto next = added.begin();
  for (size_t i = 0; i <= portions.size(); ++i) {
    for (; next != added.end() && next->first == i; ++next) {
      all.push_back(next->second);
    }
    if (i < portions.size()) {
      all.push_back(portions[i]);
    }
  }
  return all;
}

const ActorWork *TierStream::moveOf(Operation *first) const {
  auto it = moveAt_.find(first);
  return it == moveAt_.end() ? nullptr : &moves_[it->second];
}

} // namespace weft::compiler
