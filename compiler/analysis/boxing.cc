#include "compiler/analysis/boxing.h"

#include <map>
#include <queue>

namespace weft::compiler {

using ir::SbpState;

namespace {

using States = SmallVector<SbpState>;

// The primitive that takes one axis from `from` to `to`, if there is one.
std::optional<BoxStep::Kind> primitive(SbpState from, SbpState to) {
  if (from.kind == SbpState::Broadcast) {
    return to.isSplit()                      ? BoxStep::Slice
           : to.kind == SbpState::PartialSum ? BoxStep::Mask
           : to.kind == SbpState::PartialMax ? BoxStep::Relabel
                                             : std::optional<BoxStep::Kind>();
  }
  if (!to.isPartial()) {
    return BoxStep::Kind(CollectiveThat(from.isPartial(), from.isSplit(), to.isSplit()));
  }
  return from.isSplit() && to.kind == SbpState::PartialSum ? BoxStep::Pad : std::optional<BoxStep::Kind>();
}

// The search over the states of all axes.
class RouteSearch {
public:
  RouteSearch(ArrayRef<int64_t> shape, int64_t elementBytes, ArrayRef<int64_t> sizes, const CostModel &machine)
      : shape_(shape), elementBytes_(elementBytes), sizes_(sizes), machine_(machine) {
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      spreads_.push_back(spreadOf(sizes, {int(axis)}, machine));
    }
  }

  SmallVector<BoxStep> run(const States &from, const States &to) {
    wantsMax_ = llvm::any_of(to, [](SbpState s) { return s.kind == SbpState::PartialMax; });
    // Bytes are truth values or pixels, which no collective adds up.
    const bool adds = elementBytes_ > 1 || llvm::any_of(to, [](SbpState s) { return s.isPartial(); });
    seeksSums_ = adds && !isGather(from, to);
    struct Entry {
      double cost;
      int64_t order; // of discovery: makes ties deterministic
      States states;
      bool operator>(const Entry &o) const { return cost != o.cost ? cost > o.cost : order > o.order; }
    };
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::map<States, double> best;
    std::map<States, std::pair<States, BoxStep>> came;
    int64_t order = 0;
    best[from] = 0;
    queue.push({0, order++, from});
    while (!queue.empty()) {
      Entry at = queue.top();
      queue.pop();
      if (at.states == to) {
        break;
      }
      if (at.cost > best[at.states]) {
        continue;
      }
      for (const BoxStep &step : steps(at.states)) {
        double total = at.cost + step.seconds;
        auto it = best.find(step.after);
        if (it == best.end() || total < it->second) {
          best[step.after] = total;
          came.insert_or_assign(step.after, std::make_pair(at.states, step));
          queue.push({total, order++, step.after});
        }
      }
    }
    SmallVector<BoxStep> route;
    for (States at = to; at != from;) {
      auto it = came.find(at);
      assert(it != came.end() && "expected a route between valid states");
      route.push_back(it->second.second);
      at = it->second.first;
    }
    std::reverse(route.begin(), route.end());
    return route;
  }

private:
  // True if no axis inside `axis` cuts `dim`.
  bool innermost(const States &states, size_t axis, int64_t dim) const {
    for (size_t a = axis + 1; a < states.size(); ++a) {
      if (states[a].isSplit() && states[a].dim == dim) {
        return false;
      }
    }
    return true;
  }

  bool isGather(const States &from, const States &to) const {
    int changed = -1;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      if (from[axis] != to[axis]) {
        if (changed >= 0) {
          return false;
        }
        changed = int(axis);
      }
    }
    return changed >= 0 && from[changed].isSplit() && to[changed] == SbpState::broadcast() &&
           innermost(from, size_t(changed), from[changed].dim);
  }

  double localBytes(const States &states) const {
    double bytes = double(elementBytes_);
    for (int64_t extent : shape_) {
      bytes *= double(extent);
    }
    for (auto [state, size] : llvm::zip(states, sizes_)) {
      if (state.isSplit()) {
        bytes /= double(size);
      }
    }
    return bytes;
  }

  void tryStep(const States &states, size_t axis, SbpState to, SmallVector<BoxStep> &out) const {
    SbpState from = states[axis];
    std::optional<BoxStep::Kind> kind = primitive(from, to);
    if (!kind || (from.isSplit() && !innermost(states, axis, from.dim)) ||
        (to.isSplit() && !innermost(states, axis, to.dim))) {
      return;
    }
    BoxStep step{*kind, {int(axis)}, states, 0};
    step.after[axis] = to;
    if (!cutsEvenly(step.after, shape_, sizes_)) {
      return;
    }
    double bytes = localBytes(states) * double(from.isSplit() ? sizes_[axis] : 1);
    step.seconds = stepSeconds(*kind, bytes, spreads_[axis], machine_);
    out.push_back(std::move(step));
  }

  SmallVector<BoxStep> steps(const States &states) const {
    SmallVector<BoxStep> out;
    for (size_t axis = 0; axis < states.size(); ++axis) {
      tryStep(states, axis, SbpState::broadcast(), out);
      for (size_t d = 0; d < shape_.size(); ++d) {
        tryStep(states, axis, SbpState::split(int64_t(d)), out);
      }
      if (seeksSums_) {
        tryStep(states, axis, SbpState::partialSum(), out);
      }
      if (wantsMax_) {
        tryStep(states, axis, SbpState::partialMax(), out);
      }
    }
    reduceTogether(states, SbpState::PartialSum, out);
    reduceTogether(states, SbpState::PartialMax, out);
    return out;
  }

  // One all-reduce over any two or more axes that are pending in the same way.
  void reduceTogether(const States &states, SbpState::Kind kind, SmallVector<BoxStep> &out) const {
    for (unsigned mask = 0; mask < (1u << states.size()); ++mask) {
      BoxStep step{BoxStep::AllReduce, {}, states, 0};
      bool fits = true;
      for (size_t axis = 0; axis < states.size(); ++axis) {
        if (mask & (1u << axis)) {
          fits &= states[axis].kind == kind;
          step.axes.push_back(int(axis));
          step.after[axis] = SbpState::broadcast();
        }
      }
      if (fits && step.axes.size() > 1) {
        step.seconds =
            stepSeconds(BoxStep::AllReduce, localBytes(states), spreadOf(sizes_, step.axes, machine_), machine_);
        out.push_back(std::move(step));
      }
    }
  }

  ArrayRef<int64_t> shape_;
  int64_t elementBytes_;
  ArrayRef<int64_t> sizes_;
  SmallVector<plan::Spread> spreads_; // one an axis
  const CostModel &machine_;
  bool wantsMax_ = false;
  // Whether a sum with zeros may take the place of gathers. Where one gather does, no bundle of gathers would take the
  // sum: it is worth it only where one sum over several axes stands for several steps.
  bool seeksSums_ = false;
};

} // namespace

bool cutsEvenly(ArrayRef<SbpState> states, ArrayRef<int64_t> shape, ArrayRef<int64_t> axisSizes) {
  SmallVector<int64_t> left(shape);
  for (auto [state, size] : llvm::zip(states, axisSizes)) {
    if (!state.isSplit()) {
      continue;
    }
    if (state.dim >= int64_t(left.size()) || left[state.dim] % size != 0) {
      return false;
    }
    left[state.dim] /= size;
  }
  return true;
}

double boxSeconds(ir::BoxOp box, ir::PlacementAttr placement, const CostModel &machine) {
  mlir::RankedTensorType type = ir::tensorOf(box.getInput());
  int64_t elementBytes = (type.getElementTypeBitWidth() + 7) / 8;
  double seconds = 0;
  for (const BoxStep &step : findRoute(ir::sbpOf(type).getStates(), ir::sbpOf(box.getType()).getStates(),
                                       type.getShape(), elementBytes, placement.getSizes(), machine)) {
    seconds += step.seconds;
  }
  return seconds;
}

plan::Spread spreadOf(ArrayRef<int64_t> axisSizes, ArrayRef<int> axes, const CostModel &machine) {
  return plan::SpreadOf(machine, axisSizes.vec(), axes.vec());
}

double stepSeconds(BoxStep::Kind kind, double bytes, const plan::Spread &group, const CostModel &m) {
  switch (kind) {
#define WEFT_ROW(name, ...) case BoxStep::name:
    WEFT_COLLECTIVE_KINDS(WEFT_ROW)
#undef WEFT_ROW
    return plan::CollectiveSeconds(m, CollectiveKind(kind), bytes, group);
  case BoxStep::Slice:
    return plan::KernelSeconds(m, {0, 0, 2 * bytes / double(group.ranks)});
  case BoxStep::Pad:
  case BoxStep::Mask:
    return plan::KernelSeconds(m, {0, 0, 2 * bytes});
  case BoxStep::Relabel:
    return 0;
  }
  return 0;
}

double transitionSeconds(SbpState from, SbpState to, double bytes, const plan::Spread &group,
                         const CostModel &machine) {
  if (from == to) {
    return 0;
  }
  if (std::optional<BoxStep::Kind> kind = primitive(from, to)) {
    return stepSeconds(*kind, bytes, group, machine);
  }
  // The others go by way of B.
  return transitionSeconds(from, SbpState::broadcast(), bytes, group, machine) +
         transitionSeconds(SbpState::broadcast(), to, bytes, group, machine);
}

SmallVector<BoxStep> findRoute(ArrayRef<SbpState> from, ArrayRef<SbpState> to, ArrayRef<int64_t> shape,
                               int64_t elementBytes, ArrayRef<int64_t> axisSizes, const CostModel &machine) {
  return RouteSearch(shape, elementBytes, axisSizes, machine).run(States(from), States(to));
}

ArrayRef<BoxStep> Routes::find(ArrayRef<SbpState> from, ArrayRef<SbpState> to, mlir::RankedTensorType type,
                               ArrayRef<int64_t> axisSizes) {
  const int64_t elementBytes = (type.getElementTypeBitWidth() + 7) / 8;
  auto [it, isNew] = known_.try_emplace(
      {States(from), States(to), Sizes(type.getShape()), elementBytes, Sizes(axisSizes)}, SmallVector<BoxStep>());
  if (isNew) {
    it->second = findRoute(from, to, type.getShape(), elementBytes, axisSizes, machine_);
  }
  return it->second;
}

} // namespace weft::compiler
