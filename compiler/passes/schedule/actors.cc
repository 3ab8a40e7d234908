// From a list of kernels to actors on streams.
#include "compiler/analysis/layer.h"
#include "compiler/passes/schedule/passes.h"
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
  auto kernel = llvm::dyn_cast<task::KernelOp>(op);
  return kernel && kernel.getName() == "input" ? StreamKind::Host : StreamKind::Compute;
}

struct ScheduleActors : impl::ScheduleActorsBase<ScheduleActors> {
  void runOnOperation() override {
    task::ProgramOp program = getOperation();
    used_.clear(); // one pass may run over several programs
    mlir::Block &body = program.getBody().front();
    llvm::SmallVector<Operation *> work[2], metrics;
    for (Operation &op : body) {
      if (llvm::isa<task::KernelOp, task::CollectiveOp, task::SendOp, task::ReceiveOp>(op)) {
        work[int(sectionOf(&op))].push_back(&op);
      } else if (llvm::isa<task::MetricOp>(op)) {
        metrics.push_back(&op);
      }
    }
    for (auto &section : work) {
      group(body, section);
    }
    for (Operation *metric : metrics) {
      metric->moveBefore(&body, body.end());
    }
    if (program.getMicroBatches() > 1) {
      body.walk([&](task::BufferOp buffer) {
        if (buffer.getKind() == task::BufferKind::Input) {
          buffer.setSlots(2);
        }
      });
    }
  }

private:
  void group(mlir::Block &body, llvm::ArrayRef<Operation *> work) {
    task::ActorOp current;
    std::string currentName;
    for (Operation *op : work) {
      bool isKernel = llvm::isa<task::KernelOp>(op);
      std::string name = actorName(op);
      if (!current || !isKernel || name != currentName || streamOf(op) != current.getStream()) {
        current = makeActor(body, op, name);
        currentName = isKernel ? name : "";
      }
      op->moveBefore(&current.getBody().front(), current.getBody().front().end());
      if (!isKernel) {
        current = {};
      }
    }
  }

  task::ActorOp makeActor(mlir::Block &body, Operation *first, std::string name) {
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
    auto actor = builder.create<task::ActorOp>(first->getLoc(), name, streamOf(first), sectionOf(first));
    actor.getBody().emplaceBlock();
    ++numActors;
    return actor;
  }

  llvm::StringMap<int> used_;
};

} // namespace
} // namespace weft::compiler
