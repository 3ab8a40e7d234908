// From a list of kernels to actors on streams.
#include "compiler/analysis/layer.h"
#include "compiler/passes/schedule/passes.h"
#include "compiler/passes/schedule/slots.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SCHEDULEACTORS
#include "compiler/passes/schedule/Passes.h.inc"
namespace {

using mlir::Operation;
using task::Section;
using task::StreamKind;

// The layer of a scope; of a scope that is part of no layer the first part.
llvm::StringRef groupOf(llvm::StringRef scope) {
  llvm::StringRef layer = layerOf(scope);
  return layer.empty() ? scope.take_front(scope.find('.')) : layer;
}

std::string actorName(Operation *op) {
  auto scope = op->getAttrOfType<mlir::StringAttr>("scope");
  auto phase = op->getAttrOfType<mlir::StringAttr>("phase");
  std::string name = scope ? groupOf(scope.getValue()).str() : "";
  if (name.empty()) {
    name = "graph";
  }
  if (name == "batch" || name == "optimizer") {
    return name;
  }
  return name + "." + (phase ? phase.getValue().str() : "forward");
}

Section sectionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Section>(op)
      .Case<task::KernelOp, task::CollectiveOp, task::SendOp, task::ReceiveOp>(
          [](auto work) { return work.getSection(); })
      .Default([](Operation *) { return Section::Micro; });
}

StreamKind streamOf(Operation *op) {
  if (llvm::isa<task::SendOp, task::ReceiveOp>(op)) {
    return StreamKind::Communication;
  }
  auto kernel = llvm::dyn_cast<task::KernelOp>(op);
  return kernel && kernel.getName() == "input" ? StreamKind::Host : StreamKind::Compute;
}

// Each end of a transfer has a stream of its own, so that none waits behind another.
std::string laneOf(Operation *op) {
  if (auto send = llvm::dyn_cast<task::SendOp>(op)) {
    return "send " + std::to_string(send.getTransfer());
  }
  if (auto receive = llvm::dyn_cast<task::ReceiveOp>(op)) {
    return "receive " + std::to_string(receive.getTransfer());
  }
  return "";
}

char kindOf(Operation *op) {
  auto phase = op->getAttrOfType<mlir::StringAttr>("phase");
  return !phase                            ? 'F'
         : phase.getValue() == "weight"    ? 'W'
         : phase.getValue() == "backward"  ? 'B'
         : phase.getValue() == "recompute" ? 'B'
                                           : 'F';
}

// The units of one micro-batch in the order of what they read: the forwards, then from the last chunk to the first
// the backward, and its weight part.
struct UnitOrder {
  bool back = false;
  int64_t chunk = 0; // backwards -1, -2, ... for the chunks 0, 1, ...
  char kind = 'F';
  auto operator<=>(const UnitOrder &other) const = default;
};

struct ScheduleActors : impl::ScheduleActorsBase<ScheduleActors> {
  void runOnOperation() override {
    task::ProgramOp program = getOperation();
    used_.clear(); // one pass may run over several programs
    findChunks(program);
    mlir::Block &body = program.getBody().front();
    llvm::SmallVector<Operation *> begin, step, metrics;
    std::map<UnitOrder, llvm::SmallVector<Operation *>> units;
    for (Operation &op : body) {
      if (llvm::isa<task::MetricOp>(op)) {
        metrics.push_back(&op);
      } else if (!llvm::isa<task::KernelOp, task::CollectiveOp, task::SendOp, task::ReceiveOp>(op)) {
        continue;
      } else if (sectionOf(&op) == Section::Micro) {
        units[orderOf(&op)].push_back(&op);
      } else {
        (sectionOf(&op) == Section::Begin ? begin : step).push_back(&op);
      }
    }
    group(body, begin, {});
    for (auto &[unit, work] : units) {
      task::Unit name{unit.kind, 0, unit.back ? -unit.chunk - 1 : unit.chunk};
      group(body, work, mlir::StringAttr::get(&getContext(), name.name()));
    }
    group(body, step, {});
    for (Operation *metric : metrics) {
      metric->moveBefore(&body, body.end());
    }
    setSlots(program);
  }

private:
  // The chunks that the program has, in order.
  void findChunks(task::ProgramOp program) {
    chunks_.clear();
    for (Operation &op : program.getBody().front()) {
      if (llvm::isa<task::KernelOp, task::CollectiveOp, task::SendOp, task::ReceiveOp>(op) &&
          sectionOf(&op) == Section::Micro) {
        chunks_.push_back(ir::chunkOf(&op));
      }
    }
    llvm::sort(chunks_);
    chunks_.erase(std::unique(chunks_.begin(), chunks_.end()), chunks_.end());
  }

  UnitOrder orderOf(Operation *op) {
    int64_t chunk = llvm::find(chunks_, ir::chunkOf(op)) - chunks_.begin();
    char kind = kindOf(op);
    return {kind != 'F', kind == 'F' ? chunk : -chunk - 1, kind};
  }

  void group(mlir::Block &body, llvm::ArrayRef<Operation *> work, mlir::StringAttr unit) {
    task::ActorOp current;
    std::string currentName;
    for (Operation *op : work) {
      bool isKernel = llvm::isa<task::KernelOp>(op);
      std::string name = actorName(op);
      if (!current || !isKernel || name != currentName || streamOf(op) != current.getStream()) {
        current = makeActor(body, op, name, unit);
        currentName = isKernel ? name : "";
      }
      op->moveBefore(&current.getBody().front(), current.getBody().front().end());
      if (!isKernel) {
        current = {};
      }
    }
  }

  task::ActorOp makeActor(mlir::Block &body, Operation *first, std::string name, mlir::StringAttr unit) {
    if (auto collective = llvm::dyn_cast<task::CollectiveOp>(first)) {
      name += "." + task::stringifyCollectiveKind(collective.getKind()).str();
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
    auto actor = builder.create<task::ActorOp>(first->getLoc(), name, streamOf(first),
                                               lane.empty() ? mlir::StringAttr() : builder.getStringAttr(lane),
                                               sectionOf(first), unit, ir::chunkOf(first));
    actor.getBody().emplaceBlock();
    ++numActors;
    return actor;
  }

  llvm::StringMap<int> used_;
  llvm::SmallVector<int64_t> chunks_;
};

} // namespace
} // namespace weft::compiler
