// From a list of kernels to actors on streams.
#include "compiler/analysis/layer.h"
#include "compiler/analysis/unit_order.h"
#include "compiler/dialect/task/registers.h"
#include "compiler/passes/schedule/buckets.h"
#include "compiler/passes/schedule/communication_stream.h"
#include "compiler/passes/schedule/host_work.h"
#include "compiler/passes/schedule/passes.h"
#include "compiler/passes/schedule/postpone.h"
#include "compiler/passes/schedule/step_order.h"
#include "compiler/passes/schedule/tier_stream.h"
#include "compiler/passes/schedule/turns.h"
#include "llvm/ADT/StringMap.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SCHEDULEACTORS
#include "compiler/passes/schedule/Passes.h.inc"
namespace {

using task::Section;
using task::StreamKind;

std::string actorName(Operation *op) {
  std::string name = pieceOf(ir::scopeOf(op)).str();
  if (name.empty()) {
    name = "graph";
  }
  if (name == "batch" || name == "optimizer") {
    return name;
  }
  return name + "." + ir::nameOf(ir::phaseOf(op)).str();
}

StreamKind streamOf(Operation *op, bool overlap, const CommunicationStream &stream) {
  if (stream.has(op) || (overlap && llvm::isa<task::CollectiveOp>(op) && task::sectionOf(op) == Section::Step)) {
    return StreamKind::Communication;
  }
  if (llvm::isa<task::SendOp, task::ReceiveOp>(op)) {
    return StreamKind::Communication;
  }
  const bool isHost = llvm::isa<task::InputKernel, task::MoveKernel>(op) || task::worksBelow(op);
  return isHost ? StreamKind::Host : StreamKind::Compute;
}

// Each end of a transfer has a stream of its own, so that none waits behind another. But what is received once a step,
// such as the gradient of a table that another stage reads too, comes behind what was sent when the step began, such as
// that table: on any one rank an update then comes after the send of what it changes. A tier has one, too, and so has
// what the host computes in it.
std::string laneOf(Operation *op) {
  if (task::worksBelow(op)) {
    return "work in " + task::tierOf(op->getOperand(0)).str();
  }
  if (auto move = llvm::dyn_cast<task::MoveKernel>(op)) {
    return "tier " + task::tierOf(move.getInTier()).str();
  }
  if (auto send = llvm::dyn_cast<task::SendOp>(op)) {
    return send.getSection() == Section::Begin ? "once" : "send " + std::to_string(send.getTransfer());
  }
  if (auto receive = llvm::dyn_cast<task::ReceiveOp>(op)) {
    return receive.getSection() == Section::Step ? "once" : "receive " + std::to_string(receive.getTransfer());
  }
  return "";
}

// Sums over the micro-batches right behind what makes their terms: these then need not be kept until the unit ends, and
// a sum is complete as soon as its layer's last backward is.
llvm::SmallVector<Operation *> sumsAtOnce(llvm::ArrayRef<Operation *> work) {
  llvm::DenseMap<mlir::Value, Operation *> writer; // of a root, the last
  llvm::DenseMap<Operation *, llvm::SmallVector<Operation *, 1>> behind;
  llvm::SmallVector<Operation *> first;
  for (Operation *op : work) {
    auto sum = llvm::dyn_cast<task::AccumulateKernel>(op);
    Operation *maker = sum ? writer.lookup(task::rootOf(sum.getTerm())) : nullptr;
    if (maker) {
      behind[maker].push_back(op);
      continue;
    }
    first.push_back(op);
    for (mlir::Value output : task::outputsOf(op)) {
      writer[task::rootOf(output)] = op;
    }
  }
  llvm::SmallVector<Operation *> all;
  for (Operation *op : first) {
    all.push_back(op);
    llvm::append_range(all, behind.lookup(op));
  }
  return all;
}

struct ScheduleActors : impl::ScheduleActorsBase<ScheduleActors> {
  void runOnOperation() override {
    task::ProgramOp program = getOperation();
    used_.clear(); // one pass may run over several programs
    step_ = StepCollectives();
    findChunks(program);
    postponeReductions(program);
    mlir::Block &body = program.getBody().front();
    // Of the begin section: what the host does, what is fetched of that, and copies of other state.
    llvm::SmallVector<Operation *> begin, below, fetches, copies, step, metrics;
    std::map<UnitOrder, llvm::SmallVector<Operation *>> units;
    for (Operation &op : body) {
      if (llvm::isa<task::MetricOp>(op)) {
        metrics.push_back(&op);
      } else if (!llvm::isa<task::KernelOp, task::CollectiveOp, task::SendOp, task::ReceiveOp>(op)) {
        continue;
      } else if (task::sectionOf(&op) == Section::Micro) {
        units[orderOf(&op)].push_back(&op);
      } else if (task::sectionOf(&op) == Section::Begin) {
        (task::worksBelow(&op)              ? below
         : !llvm::isa<task::MoveKernel>(op) ? begin
         : servesHost(&op)                  ? fetches
                                            : copies)
            .push_back(&op);
      } else {
        step.push_back(&op);
      }
    }
    llvm::SmallVector<llvm::ArrayRef<Operation *>> inOrder;
    std::map<UnitOrder, llvm::SmallVector<task::MoveKernel>> moves;
    for (auto &[unit, work] : units) {
      work = sumsAtOnce(work);
      for (Operation *op : work) {
        if (auto move = llvm::dyn_cast<task::MoveKernel>(op)) {
          moves[unit].push_back(move);
        }
      }
      llvm::erase_if(work, [](Operation *op) { return llvm::isa<task::MoveKernel>(op); });
    }
    bool follows = units.size() == 2 && backwardsFollow(program);
    bool kept = follows && dropGathers(program, begin, units.begin()->second, units.rbegin()->second);
    for (auto &[unit, work] : units) {
      inOrder.push_back(work);
    }
    CommunicationStream stream(program, begin, inOrder);
    stream_ = &stream;
    llvm::FailureOr<CostModel> machine = machineOf(program);
    if (failed(machine)) {
      return signalPassFailure();
    }
    group(body, singly(below), {});
    group(body, togetherByLayer(fetches), {});
    group(body, withParts(stream.any() ? stream.begin(begin) : singly(begin), copies, *machine), {});
    llvm::SmallVector<Operation *> micro; // as the last micro-batch is done
    for (const schedule::Unit &unit : lastOf(program)) {
      auto it = units.find(unitOrderOf(unit.kind, unit.chunk));
      if (it != units.end()) {
        llvm::append_range(micro, it->second);
      }
    }
    if (llvm::any_of(step, task::worksBelow)) {
      step = byArrival(step, micro);
    }
    step_ = bundle(program, micro, step, stream);
    mlir::Value last;
    for (auto &[unit, work] : units) {
      schedule::Unit one{unit.kind, unit.back ? -unit.chunk - 1 : unit.chunk, 0};
      mlir::Value before = follows && unit.kind == schedule::UnitKind::Backward ? last : mlir::Value();
      std::vector<ActorWork> portions = stream.any() ? stream.unit(work, before) : singly(work);
      if (program.getOverlap() > 1) {
        cutForTurns(portions, program.getPlacement(), *machine);
      }
      group(body, withMoves(std::move(portions), moves[unit]),
            mlir::StringAttr::get(&getContext(), schedule::nameOf(one)));
      last = stream.lastOf(work, kept);
    }
    groupStep(body, byCompletion(program, step_, step), micro, *machine);
    for (Operation *metric : metrics) {
      metric->moveBefore(&body, body.end());
    }
  }

private:
  // The chunks that the program has, in order.
  void findChunks(task::ProgramOp program) {
    chunks_.clear();
    for (Operation &op : program.getBody().front()) {
      if (llvm::isa<task::KernelOp, task::CollectiveOp, task::SendOp, task::ReceiveOp>(op) &&
          task::sectionOf(&op) == Section::Micro) {
        chunks_.push_back(ir::chunkOf(&op));
      }
    }
    llvm::sort(chunks_);
    chunks_.erase(std::unique(chunks_.begin(), chunks_.end()), chunks_.end());
  }

  UnitOrder orderOf(Operation *op) {
    return unitOrderOf(unitKindOf(op), int(llvm::find(chunks_, ir::chunkOf(op)) - chunks_.begin()));
  }

  // Each unit where the program's order has it for the last time.
  static std::vector<schedule::Unit> lastOf(task::ProgramOp program) {
    std::vector<schedule::Unit> last, order = task::unitsOf(program);
    for (const schedule::Unit &unit : llvm::reverse(order)) {
      if (llvm::none_of(
              last, [&](const schedule::Unit &other) { return schedule::nameOf(other) == schedule::nameOf(unit); })) {
        last.push_back(unit);
      }
    }
    return {last.rbegin(), last.rend()};
  }

  // Whether every forward is followed by its own backward.
  static bool backwardsFollow(task::ProgramOp program) {
    std::vector<schedule::Unit> order = task::unitsOf(program);
    for (size_t i = 0; i < order.size(); ++i) {
      bool follows = i + 1 < order.size() && order[i + 1].kind == schedule::UnitKind::Backward &&
                     order[i + 1].microBatch == order[i].microBatch;
      if (order[i].kind == schedule::UnitKind::Forward && !follows) {
        return false;
      }
    }
    return true;
  }

  // Takes away the gathers of a backward that its forward has just done.
  static bool dropGathers(task::ProgramOp program, llvm::ArrayRef<Operation *> begin,
                          llvm::SmallVector<Operation *> &forward, llvm::SmallVector<Operation *> &backward) {
    auto kept = CommunicationStream(program, begin, {forward, backward}).keptFor(backward, forward);
    for (auto &[again, first] : kept) {
      auto buffer = again.getOutput().getDefiningOp<task::BufferOp>();
      llvm::erase(backward, again.getOperation());
      again.erase();
      buffer.replaceAllUsesWith(first.getOutput());
      buffer.erase();
    }
    return !kept.empty();
  }

  static std::vector<ActorWork> singly(llvm::ArrayRef<Operation *> work) {
    std::vector<ActorWork> portions;
    for (Operation *op : work) {
      portions.push_back({{op}, "", {}, false});
    }
    return portions;
  }

  // Copies that follow one another in one layer and in one direction: an actor each.
  static std::vector<ActorWork> togetherByLayer(llvm::ArrayRef<Operation *> moves) {
    std::vector<ActorWork> portions;
    for (Operation *op : moves) {
      if (portions.empty() || !goesWith(portions.back().work.back(), op)) {
        portions.push_back({{}, "", {}, true});
      }
      portions.back().work.push_back(op);
    }
    return portions;
  }

  static bool goesWith(Operation *before, Operation *op) {
    auto a = llvm::dyn_cast<task::MoveKernel>(before), b = llvm::dyn_cast<task::MoveKernel>(op);
    return a && b && servesHost(a) && servesHost(b) && a.fetches() == b.fetches() &&
           layerOf(ir::scopeOf(a)) == layerOf(ir::scopeOf(b));
  }

  // The bundles of gradients first, each an actor. What reads another bundle than those before it is a new actor, so
  // that only it waits; so is what uses another part of what comes from a tier.
  void groupStep(mlir::Block &body, const StepOrder &order, llvm::ArrayRef<Operation *> micro,
                 const CostModel &machine) {
    llvm::DenseSet<Operation *> bundled;
    llvm::DenseMap<mlir::Value, size_t> bundleOf; // by the root of what it makes
    for (auto [i, members] : llvm::enumerate(step_.bundles)) {
      ActorWork portion{{members.begin(), members.end()}, "gradients", step_.afterOf(members.front()), true};
      for (task::CollectiveOp member : members) {
        bundled.insert(member);
        bundleOf[task::rootOf(member.getOutput())] = i;
      }
      group(body, portion, {});
    }
    llvm::DenseMap<Operation *, size_t> gathersOf; // by the first of them
    for (auto [i, members] : llvm::enumerate(order.together)) {
      gathersOf[members.front()] = i;
      bundled.insert(std::next(members.begin()), members.end());
    }
    std::vector<ActorWork> some;
    llvm::DenseSet<size_t> waited;
    const TierStream tiers(order.work, micro, machine);
    for (Operation *op : tiers.order()) {
      if (bundled.contains(op)) {
        continue;
      }
      if (const ActorWork *move = tiers.moveOf(op)) {
        some.push_back(*move);
        continue;
      }
      bool waits = false;
      for (mlir::Value input : task::inputsOf(op)) {
        auto it = bundleOf.find(task::rootOf(input));
        waits |= it != bundleOf.end() && waited.insert(it->second).second;
      }
      if (waits) {
        group(body, some, {});
        some.clear();
      }
      if (!some.empty() && goesWith(some.back().work.back(), op)) {
        some.back().work.push_back(op);
        continue;
      }
      const bool isHosts = llvm::isa<task::MoveKernel>(op) || task::worksBelow(op);
      some.push_back({{op}, "", step_.afterOf(op), isHosts || tiers.beginsPart(op)});
      if (auto it = gathersOf.find(op); it != gathersOf.end()) {
        some.back().work.assign(order.together[it->second].begin(), order.together[it->second].end());
      }
    }
    group(body, some, {});
  }

  void group(mlir::Block &body, llvm::ArrayRef<ActorWork> portions, mlir::StringAttr unit) {
    task::ActorOp current;
    std::string currentName;
    for (const ActorWork &portion : portions) {
      Operation *first = portion.work.front();
      bool isKernel = llvm::isa<task::KernelOp>(first);
      std::string name = portion.name.empty() ? actorName(first) : portion.name.str();
      if (!current || !isKernel || portion.apart || name != currentName ||
          streamOf(first, step_.overlap, *stream_) != current.getStream()) {
        current = makeActor(body, first, name, unit, portion.after);
        currentName = isKernel ? name : "";
      }
      for (Operation *op : portion.work) {
        op->moveBefore(&current.getBody().front(), current.getBody().front().end());
      }
      if (!isKernel) {
        current = {};
      }
    }
  }

  task::ActorOp makeActor(mlir::Block &body, Operation *first, std::string name, mlir::StringAttr unit,
                          mlir::ValueRange after) {
    if (auto collective = llvm::dyn_cast<task::CollectiveOp>(first)) {
      name += "." + task::stringifyCollectiveKind(collective.getKind()).str();
    } else if (auto move = llvm::dyn_cast<task::MoveKernel>(first)) {
      name += "." + move.getName().str();
    } else if (llvm::isa<task::SendOp>(first)) {
      name += ".send";
    } else if (llvm::isa<task::ReceiveOp>(first)) {
      name += ".receive";
    }
    int count = ++used_[name];
    if (count > 1) {
      name += "#" + std::to_string(count);
    }
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(&body);
    std::string lane = laneOf(first);
    auto actor = builder.create<task::ActorOp>(first->getLoc(), name, streamOf(first, step_.overlap, *stream_),
                                               lane.empty() ? mlir::StringAttr() : builder.getStringAttr(lane),
                                               task::sectionOf(first), unit, ir::chunkOf(first), after);
    actor.getBody().emplaceBlock();
    ++numActors;
    return actor;
  }

  llvm::StringMap<int> used_;
  llvm::SmallVector<int64_t> chunks_;
  StepCollectives step_;
  const CommunicationStream *stream_ = nullptr; // while a program is at hand
};

} // namespace
} // namespace weft::compiler
