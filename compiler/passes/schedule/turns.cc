// --weft-schedule-turns: the order of what micro-batches that overlap do.
#include "compiler/passes/schedule/turns.h"

#include <limits>
#include <map>

#include "compiler/analysis/boxing.h"
#include "compiler/analysis/unit_order.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/passes.h"
#include "llvm/ADT/MapVector.h"
#include "ops/layout/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SCHEDULETURNS
#include "compiler/passes/schedule/Passes.h.inc"
namespace {

using mlir::Operation;
using mlir::Value;

bool computes(Operation *op) {
  return llvm::isa<task::KernelOp>(op) && !llvm::isa<task::InputKernel, task::MoveKernel>(op);
}

double secondsOf(Operation *op, ir::PlacementAttr placement, const CostModel &machine) {
  if (auto collective = llvm::dyn_cast<task::CollectiveOp>(op)) {
    const auto bytes = [&](Value buffer) { return double(task::localBytesOf(task::tensorOf(buffer), placement)); };
    const llvm::SmallVector<int> axes(collective.getAxes().begin(), collective.getAxes().end());
    return plan::CollectiveSeconds(machine, CollectiveKind(collective.getKind()),
                                   std::max(bytes(collective.getInput()), bytes(collective.getOutput())),
                                   spreadOf(placement.getSizes(), axes, machine));
  }
  auto kernel = llvm::dyn_cast<task::KernelOp>(op);
  if (!kernel || !kernel.getCost() || !computes(op)) {
    return 0;
  }
  llvm::ArrayRef<double> cost = *kernel.getCost();
  return plan::KernelSeconds(machine, {cost[0], cost[1], cost[2], {}, kernel.getName().str()});
}

// A turn of one unit: its actors in program order, each of which acts once for every micro-batch.
class Turn {
public:
  Turn(llvm::ArrayRef<task::ActorOp> actors, int micro, ir::PlacementAttr placement, const CostModel &machine)
      : actors_(actors.begin(), actors.end()), micro_(micro) {
    findWaits();
    streams_.emplace_back(); // which computes
    std::map<llvm::StringRef, size_t> others;
    for (auto [i, actor] : llvm::enumerate(actors_)) {
      size_t stream = 0;
      if (!computes(&actor.getBody().front().front())) {
        const auto [it, isNew] = others.try_emplace(nameOf(actor), streams_.size());
        stream = it->second;
        if (isNew) {
          streams_.emplace_back();
        }
      }
      streams_[stream].actors.push_back(i);
      streamOf_.push_back(stream);
      seconds_.push_back(0);
      for (Operation &op : actor.getBody().front()) {
        const double seconds = secondsOf(&op, placement, machine);
        // The collectives of an actor are one operation.
        seconds_.back() =
            llvm::isa<task::CollectiveOp>(op) ? std::max(seconds_.back(), seconds) : seconds_.back() + seconds;
      }
    }
    for (Stream &stream : streams_) {
      stream.acted.assign(size_t(micro), 0);
    }
    findUntil();
    ends_.assign(size_t(micro), std::vector<double>(actors_.size(), kNever));
    places_.assign(actors_.size(), llvm::SmallVector<int64_t>(size_t(micro), 0));
  }

  // The places of each actor's acts, one a micro-batch.
  std::vector<llvm::SmallVector<int64_t>> run() {
    for (size_t left = actors_.size() * size_t(micro_); left > 0; --left) {
      if (!actElsewhere()) {
        compute();
      }
    }
    return std::move(places_);
  }

private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Stream {
    llvm::SmallVector<size_t> actors;
    llvm::SmallVector<size_t> acted; // how many of them, by micro-batch
    double free = 0;                 // from then on
  };

  static llvm::StringRef nameOf(task::ActorOp actor) {
    return actor.getLane() ? *actor.getLane() : task::stringifyStreamKind(actor.getStream());
  }

  // Of each actor those before it that touch what it writes, or write what it touches; and its part: a buffer that has
  // not a slot for each micro-batch is handed on from one actor to the next for one of them as a whole, then for the
  // next.
  void findWaits() {
    struct Touch {
      size_t actor;
      bool writes;
    };
    llvm::MapVector<Value, llvm::SmallVector<Touch>> touches;
    for (auto [i, actor] : llvm::enumerate(actors_)) {
      llvm::MapVector<Value, bool> own; // whether it writes
      for (Operation &op : actor.getBody().front()) {
        for (Value operand : op.getOperands()) {
          own[task::rootOf(operand)] |= llvm::is_contained(task::outputsOf(&op), operand);
        }
      }
      for (Value after : actor.getAfter()) {
        own.insert({task::rootOf(after), false});
      }
      llvm::SmallVector<size_t> &waits = waits_.emplace_back();
      for (auto [root, writes] : own) {
        for (const Touch &touch : touches[root]) {
          if ((touch.writes || writes) && !llvm::is_contained(waits, touch.actor)) {
            waits.push_back(touch.actor);
          }
        }
        touches[root].push_back({i, writes});
      }
    }
    partEnds_.resize(actors_.size());
    for (auto [i, end] : llvm::enumerate(partEnds_)) {
      end = i;
    }
    for (auto &[root, all] : touches) {
      auto buffer = root.getDefiningOp<task::BufferOp>();
      const bool written = llvm::any_of(all, [](const Touch &touch) { return touch.writes; });
      if (all.size() > 1 && written && buffer && int64_t(buffer.getSlots()) < micro_) {
        for (size_t i = all.front().actor; i <= all.back().actor; ++i) {
          partEnds_[i] = std::max(partEnds_[i], all.back().actor);
        }
      }
    }
    for (size_t i = actors_.size(); i-- > 0;) { // parts that share an actor are one
      partEnds_[i] = partEnds_[partEnds_[i]];
    }
  }

  // What the computation still has to do for the next act of another stream, this one included.
  void findUntil() {
    llvm::SmallVector<bool> isAwaited(actors_.size(), false);
    for (auto [i, waits] : llvm::enumerate(waits_)) {
      for (size_t before : waits) {
        isAwaited[before] = isAwaited[before] || (streamOf_[i] > 0 && streamOf_[before] == 0);
      }
    }
    until_.assign(actors_.size(), 0);
    double seconds = kNever;
    for (size_t i = actors_.size(); i-- > 0;) {
      if (streamOf_[i] == 0) {
        seconds = isAwaited[i] ? seconds_[i] : seconds + seconds_[i];
        until_[i] = seconds;
      }
    }
  }

  // Whether an act may be next in the turn. Micro-batches keep their order at each actor, and at each part.
  bool may(size_t actor, int micro) const {
    const bool follows = micro == 0 || ends_[micro - 1][partEnds_[actor]] < kNever;
    return ends_[micro][actor] == kNever && follows &&
           llvm::all_of(waits_[actor], [&](size_t before) { return ends_[micro][before] < kNever; });
  }

  double beginOf(size_t actor, int micro) const {
    double begin = streams_[streamOf_[actor]].free;
    for (size_t before : waits_[actor]) {
      begin = std::max(begin, ends_[micro][before]);
    }
    return begin;
  }

  void act(size_t actor, int micro) {
    const double end = beginOf(actor, micro) + seconds_[actor];
    Stream &stream = streams_[streamOf_[actor]];
    ends_[micro][actor] = stream.free = end;
    ++stream.acted[size_t(micro)];
    places_[actor][size_t(micro)] = next_++;
  }

  // The first actor of a stream that has not acted for a micro-batch, if it may.
  std::optional<size_t> headOf(const Stream &stream, int micro) const {
    const size_t acted = stream.acted[size_t(micro)];
    return acted < stream.actors.size() && may(stream.actors[acted], micro) ? std::optional(stream.actors[acted])
                                                                            : std::nullopt;
  }

  // What may begin on another stream than that which computes: of each, what comes first.
  bool actElsewhere() {
    std::optional<std::pair<size_t, int>> first;
    for (int micro = 0; micro < micro_; ++micro) {
      for (const Stream &stream : llvm::ArrayRef(streams_).drop_front()) {
        const std::optional<size_t> head = headOf(stream, micro);
        if (head && (!first || beginOf(*head, micro) < beginOf(first->first, first->second))) {
          first = {*head, micro};
        }
      }
    }
    if (first) {
      act(first->first, first->second);
    }
    return first.has_value();
  }

  // Of what may begin at once, that with the least to do until another stream can go on; else what may begin first.
  void compute() {
    std::optional<std::pair<size_t, int>> best;
    const auto rank = [&](const std::pair<size_t, int> &act) {
      return std::pair(beginOf(act.first, act.second), until_[act.first]);
    };
    for (int micro = 0; micro < micro_; ++micro) {
      const std::optional<size_t> head = headOf(streams_.front(), micro);
      if (head && (!best || rank({*head, micro}) < rank(*best))) {
        best = {*head, micro};
      }
    }
    assert(best && "the first micro-batch can always go on");
    act(best->first, best->second);
  }

  std::vector<task::ActorOp> actors_;
  const int micro_; // batches
  std::vector<llvm::SmallVector<size_t>> waits_;
  std::vector<size_t> partEnds_; // an actor each: the last one of its part
  std::vector<Stream> streams_;
  std::vector<size_t> streamOf_; // an actor each
  std::vector<double> seconds_, until_;
  std::vector<std::vector<double>> ends_; // by micro-batch, an actor each
  std::vector<llvm::SmallVector<int64_t>> places_;
  int64_t next_ = 0;
};

struct ScheduleTurns : impl::ScheduleTurnsBase<ScheduleTurns> {
  void runOnOperation() override {
    task::ProgramOp program = getOperation();
    const int overlap = int(program.getOverlap());
    llvm::FailureOr<CostModel> machine = machineOf(program);
    if (failed(machine)) {
      return signalPassFailure();
    }
    llvm::MapVector<llvm::StringRef, llvm::SmallVector<task::ActorOp>> units;
    for (auto actor : program.getBody().getOps<task::ActorOp>()) {
      if (overlap > 1 && actor.getUnit()) {
        units[*actor.getUnit()].push_back(actor);
      }
    }
    for (auto &[unit, actors] : units) {
      const auto places = Turn(actors, overlap, program.getPlacement(), *machine).run();
      for (auto [actor, own] : llvm::zip(actors, places)) {
        actor->setAttr(kTurnName, mlir::DenseI64ArrayAttr::get(&getContext(), own));
      }
    }
  }
};

} // namespace

void cutForTurns(std::vector<ActorWork> &portions, ir::PlacementAttr placement, const CostModel &machine) {
  const auto secondsOfPortion = [&](const ActorWork &portion) {
    double seconds = 0;
    for (Operation *op : portion.work) {
      seconds += secondsOf(op, placement, machine);
    }
    return seconds;
  };
  double shortest = std::numeric_limits<double>::infinity();
  for (const ActorWork &portion : portions) {
    if (llvm::isa<task::CollectiveOp>(portion.work.front())) {
      shortest = std::min(shortest, secondsOfPortion(portion));
    }
  }
  for (size_t begin = 0, end = 0; begin < portions.size(); begin = std::max(end, begin + 1)) {
    double all = 0;
    for (end = begin; end < portions.size() && computes(portions[end].work.front()); ++end) {
      all += secondsOfPortion(portions[end]);
    }
    if (all <= shortest) {
      continue;
    }
    double before = 0;
    std::optional<size_t> middle;
    double off = all;
    for (size_t i = begin; i < end; ++i) {
      // A sum stays with what makes its term.
      const bool may = i > begin && !llvm::isa<task::AccumulateKernel>(portions[i].work.front());
      if (may && std::abs(all - 2 * before) < off) {
        off = std::abs(all - 2 * before);
        middle = i;
      }
      before += secondsOfPortion(portions[i]);
    }
    if (middle) {
      portions[*middle].apart = true;
    }
  }
}

} // namespace weft::compiler
