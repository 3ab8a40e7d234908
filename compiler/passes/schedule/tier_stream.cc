#include "compiler/passes/schedule/tier_stream.h"

#include <map>

#include "compiler/analysis/layer.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/host_work.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

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

// What the computation has made last before a copy in an order; null: state alone.
Value madeBefore(llvm::ArrayRef<Operation *> order, Operation *copy) {
  for (Operation *op : llvm::reverse(order.take_until([&](Operation *it) { return it == copy; }))) {
    auto kernel = llvm::dyn_cast<task::KernelOp>(op);
    if (!kernel || llvm::isa<task::MoveKernel>(op)) {
      continue;
    }
    for (Value output : kernel.getOutputs()) {
      if (!task::isState(task::rootOf(output))) {
        return output;
      }
    }
  }
  return {};
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
    if (!move || servesHost(op)) {
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
        // Where no store says when the part before the last is done with.
        if (next > 1 && parts[next - 2].stores.empty() && !parts[next].fetches.empty()) {
          if (Value made = madeBefore(order_, parts[next].fetches.front())) {
            moves_.back().after.push_back(made);
          }
        }
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

// Where the copies of a unit's layers stand: before the portion of that number. What comes before a place is done
// when the place is, so that none waits for what waits for it.
class MovePlaces {
public:
  MovePlaces(llvm::ArrayRef<ActorWork> portions, llvm::ArrayRef<task::MoveKernel> moves)
      : portions_(portions), places_(placesOf(portions)) {
    for (task::MoveKernel move : moves) {
      (move.fetches() ? fetched_ : stored_).insert(layerOf(ir::scopeOf(move)));
    }
    for (auto [i, portion] : llvm::enumerate(portions)) {
      for (Operation *op : portion.work) {
        for (Value input : task::inputsOf(op)) {
          firstRead_.try_emplace(task::rootOf(input), i);
        }
        for (Value output : task::outputsOf(op)) {
          lastWritten_[task::rootOf(output)] = i;
        }
      }
    }
  }

  // Where the unit comes to the layer before of which something is fetched, or to that in which a gather is issued
  // which reads it. The first layer's is behind the unit's first kernel, so that not while the unit before is at its
  // end; but a forward's is as early as may be: when a backward ends, little is left on the device.
  size_t of(llvm::StringRef layer, task::MoveKernel fetch) const {
    auto read = firstRead_.find(task::rootOf(fetch.getOnDevice()));
    if (read != firstRead_.end() && llvm::isa<task::CollectiveOp>(portions_[read->second].work.front())) {
      auto before = llvm::find_if(llvm::reverse(places_), [&](const Place &it) { return it.begin < read->second; });
      return before == places_.rend() ? 0 : before->begin;
    }
    const size_t k = number(layer);
    if (k > 0 || places_.empty()) {
      size_t before = std::min(k, places_.size());
      while (before > 1 && !fetched_.contains(places_[before - 1].layer)) {
        --before;
      }
      return before > 0 && k < places_.size() ? places_[before - 1].begin : 0;
    }
    if (ir::phaseOf(fetch) == ir::OpPhase::Forward) {
      return 0;
    }
    auto first =
        llvm::find_if(portions_, [](const ActorWork &it) { return llvm::isa<task::KernelOp>(it.work.front()); });
    return std::min(size_t(first - portions_.begin()) + 1, places_[0].begin);
  }

  // Behind the layer, and behind what makes what is stored.
  size_t behind(llvm::StringRef layer, llvm::ArrayRef<Operation *> stores) const {
    const size_t k = number(layer);
    size_t at = k < places_.size() ? places_[k].end : 0;
    for (Operation *op : stores) {
      auto written = lastWritten_.find(task::rootOf(task::MoveKernel(llvm::cast<task::KernelOp>(op)).getOnDevice()));
      at = written == lastWritten_.end() ? at : std::max(at, written->second + 1);
    }
    return at;
  }

  // What waits for the stores of a layer, which stand at `at`: the second layer from there of which something is
  // stored, or the last one of all; none that comes next.
  std::optional<size_t> waiting(llvm::StringRef layer, size_t at) const {
    std::optional<size_t> last;
    size_t stored = 0;
    for (size_t k = number(layer) + 1; k < places_.size() && !(last && stored > 1); ++k) {
      stored += stored_.contains(places_[k].layer);
      if (k > number(layer) + 1 && places_[k].begin >= at) {
        last = places_[k].begin;
      }
    }
    return last;
  }

private:
  size_t number(llvm::StringRef layer) const {
    return size_t(llvm::find_if(places_, [&](const Place &it) { return it.layer == layer; }) - places_.begin());
  }

  llvm::ArrayRef<ActorWork> portions_;
  const std::vector<Place> places_;
  llvm::StringSet<> fetched_, stored_;                    // layers
  llvm::DenseMap<Value, size_t> firstRead_, lastWritten_; // by root
};

} // namespace

std::vector<ActorWork> withMoves(std::vector<ActorWork> portions, llvm::ArrayRef<task::MoveKernel> moves) {
  if (moves.empty()) {
    return portions;
  }
  const MovePlaces places(portions, moves);
  llvm::MapVector<llvm::StringRef, ActorWork> fetches, stores; // by the layer
  for (task::MoveKernel move : moves) {
    ActorWork &work = (move.fetches() ? fetches : stores)[layerOf(ir::scopeOf(move))];
    work.work.push_back(move.getOperation());
    work.apart = true;
  }
  std::multimap<size_t, ActorWork> added; // before the portion of that number; stores before fetches
  for (auto &[layer, work] : stores) {
    const size_t at = places.behind(layer, work.work);
    if (std::optional<size_t> waits = places.waiting(layer, at)) {
      task::MoveKernel store(llvm::cast<task::KernelOp>(work.work.front()));
      portions[*waits].after.push_back(store.getInTier());
      portions[*waits].apart = true;
    }
    added.emplace(at, work);
  }
  for (auto &[layer, work] : fetches) {
    size_t at = portions.size();
    for (Operation *op : work.work) {
      at = std::min(at, places.of(layer, task::MoveKernel(llvm::cast<task::KernelOp>(op))));
    }
    if (Value made = madeBefore(at, portions)) {
      work.after.push_back(made);
    }
    added.emplace(at, work);
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

std::vector<ActorWork> withParts(llvm::ArrayRef<ActorWork> portions, llvm::ArrayRef<Operation *> moves,
                                 const CostModel &machine) {
  if (moves.empty()) {
    return portions;
  }
  llvm::SmallVector<Operation *> work(moves);
  llvm::DenseMap<Operation *, const ActorWork *> portionOf; // by its first op
  for (const ActorWork &portion : portions) {
    portionOf[portion.work.front()] = &portion;
    llvm::append_range(work, portion.work);
  }
  const TierStream tiers(work, {}, machine);
  std::vector<ActorWork> all;
  for (Operation *op : tiers.order()) {
    if (const ActorWork *move = tiers.moveOf(op)) {
      all.push_back(*move);
    } else if (const ActorWork *portion = portionOf.lookup(op)) {
      all.push_back(*portion);
      all.back().apart |= tiers.beginsPart(op);
    }
  }
  return all;
}

const ActorWork *TierStream::moveOf(Operation *first) const {
  auto it = moveAt_.find(first);
  return it == moveAt_.end() ? nullptr : &moves_[it->second];
}

} // namespace weft::compiler
