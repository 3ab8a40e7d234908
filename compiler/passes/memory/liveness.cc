#include "compiler/passes/memory/liveness.h"

namespace weft::compiler {

using mlir::Operation;
using mlir::Value;
using task::isState;

Liveness::Liveness(task::ProgramOp program, const Timeline &timeline)
    : timeline_(timeline), microBatches_(int64_t(program.getMicroBatches())) {
  addUses(program);
}

void Liveness::addUses(task::ProgramOp program) {
  for (auto [a, actor] : llvm::enumerate(program.getBody().getOps<task::ActorOp>())) {
    int64_t section = timeline_.sectionOf(a);
    for (Operation &op : actor.getBody().front()) {
      for (Value operand : op.getOperands()) {
        Use &use = uses_[task::rootOf(operand)];
        use.once |= actor.getSection() != task::Section::Micro;
        if (use.actors.empty() || use.actors.back() != a) {
          use.actors.push_back(a);
        }
        if (!timeline_.computes(a)) {
          if (use.others.empty() || use.others.back() != a) {
            use.others.push_back(a);
          }
          continue;
        }
        int64_t at = timeline_.positionOf(&op);
        auto *known = llvm::find_if(use.sections, [&](const auto &it) { return it.first == section; });
        if (known == use.sections.end()) {
          use.sections.push_back({section, {at, at}});
        } else {
          known->second = {std::min(known->second.first, at), std::max(known->second.last, at)};
        }
      }
      if (auto accumulate = llvm::dyn_cast<task::AccumulateKernel>(op)) {
        uses_[task::rootOf(accumulate.getSum())].carried = true;
      }
    }
  }
  for (auto metric : program.getBody().getOps<task::MetricOp>()) {
    Use &use = uses_[task::rootOf(metric.getBuffer())];
    use.metric = use.once = true;
  }
}

std::pair<Moment, Moment> Liveness::hull(const Use &use, int64_t firstMicroBatch, int64_t lastMicroBatch) const {
  std::pair<Moment, Moment> all = {timeline_.end(), timeline_.beginning()};
  auto add = [&](Moment from, Moment to) { all = {std::min(all.first, from), std::max(all.second, to)}; };
  for (auto [section, span] : use.sections) {
    add(timeline_.momentOf(section, firstMicroBatch, span.first),
        timeline_.momentOf(section, lastMicroBatch, span.last));
  }
  for (size_t actor : use.others) {
    bool micro = timeline_.isMicro(actor);
    add(timeline_.reachOf({actor, micro ? firstMicroBatch : 0}).first,
        timeline_.reachOf({actor, micro ? lastMicroBatch : 0}).second);
  }
  if (use.metric) {
    all.second = timeline_.end();
  }
  return all;
}

bool Liveness::isOfMicroBatch(Value root) const {
  auto it = uses_.find(root);
  return it != uses_.end() && !isState(root) && !it->second.once && !it->second.carried;
}

bool Liveness::isPassed(Value root) const {
  auto it = uses_.find(root);
  return it != uses_.end() && !it->second.others.empty();
}

bool Liveness::isApart(Part a, Part b) const {
  const Use &useOfA = uses_.find(a.root)->second, &useOfB = uses_.find(b.root)->second;
  // Whether all acts of one for its micro-batches up to i come before all acts of the other for those from j on.
  auto allBefore = [&](const Use &early, int64_t i, const Use &late, int64_t j) {
    return !early.metric && llvm::all_of(early.actors, [&](size_t x) {
      return llvm::all_of(late.actors, [&](size_t y) {
        return timeline_.isBefore({x, timeline_.isMicro(x) ? i : 0}, {y, timeline_.isMicro(y) ? j : 0});
      });
    });
  };
  // What lives once a step does so for all micro-batches together.
  bool onceA = !isOfMicroBatch(a.root), onceB = !isOfMicroBatch(b.root);
  int64_t stepOfA = onceA ? microBatches_ : a.step, stepOfB = onceB ? microBatches_ : b.step;
  auto lastOfA = [&](int64_t i) { return onceA ? microBatches_ - 1 : i; };
  auto lastOfB = [&](int64_t j) { return onceB ? microBatches_ - 1 : j; };
  // An actor's acts come in the order of the micro-batches: what is not before the i-th of `a` is not before those
  // ahead of it either, and what comes behind the first of these comes behind all.
  int64_t j = b.first;
  for (int64_t i = a.first; i < microBatches_; i += stepOfA) {
    while (j < microBatches_ && allBefore(useOfB, lastOfB(j), useOfA, i)) {
      j += stepOfB;
    }
    if (j < microBatches_ && !allBefore(useOfA, lastOfA(i), useOfB, j)) {
      return false;
    }
  }
  return true;
}

Moment Liveness::startOf(Value root, int64_t microBatch) const {
  auto it = uses_.find(root);
  return it == uses_.end() || isState(root) ? timeline_.beginning() : hull(it->second, microBatch, microBatch).first;
}

bool Liveness::isKept(Value root) const {
  auto it = uses_.find(root);
  return it != uses_.end() && it->second.sections.size() > 1;
}

Life Liveness::ofMicroBatches(Value root, int64_t first, int64_t step) const {
  auto it = uses_.find(root);
  if (it == uses_.end() || isState(root)) {
    return {{0, timeline_.positions() - 1}};
  }
  const Use &use = it->second;
  llvm::BitVector whole(timeline_.sections().size());
  llvm::SmallVector<Span> spans;
  auto add = [&](int64_t from, int64_t to) {
    auto [begin, end] = hull(use, from, to);
    timeline_.cover(begin, end, whole, spans);
  };
  if (use.once || use.carried) {
    add(0, microBatches_ - 1);
  } else {
    for (int64_t i = first; i < microBatches_; i += step) {
      add(i, i);
    }
  }
  return timeline_.unite(whole, std::move(spans));
}

} // namespace weft::compiler
