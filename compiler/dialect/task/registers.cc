#include "compiler/dialect/task/registers.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace weft::task {

mlir::ValueRange outputsOf(Operation *work) {
  return llvm::TypeSwitch<Operation *, mlir::ValueRange>(work)
      .Case([](KernelOp kernel) { return mlir::ValueRange(kernel.getOutputs()); })
      .Case([](CollectiveOp collective) { return mlir::ValueRange(collective->getOperands().drop_front(1)); })
      .Case([](ReceiveOp receive) { return mlir::ValueRange(receive->getOperands()); })
      .Default([](Operation *) { return mlir::ValueRange(); });
}

mlir::ValueRange inputsOf(Operation *work) {
  return llvm::TypeSwitch<Operation *, mlir::ValueRange>(work)
      .Case([](KernelOp kernel) { return mlir::ValueRange(kernel.getInputs()); })
      .Case([](CollectiveOp collective) { return mlir::ValueRange(collective->getOperands().take_front(1)); })
      .Case([](SendOp send) { return mlir::ValueRange(send->getOperands()); })
      .Default([](Operation *) { return mlir::ValueRange(); });
}

// They are the last operands.
bool isOutput(mlir::OpOperand &use) {
  Operation *work = use.getOwner();
  return use.getOperandNumber() + outputsOf(work).size() >= work->getNumOperands();
}

bool isState(Value root) {
  auto buffer = root.getDefiningOp<BufferOp>();
  const BufferKind kind = buffer.getKind();
  return kind == BufferKind::Parameter || kind == BufferKind::Optimizer || kind == BufferKind::Cache ||
         buffer.getInit();
}

namespace {

// The roots whose bytes more than one actor touches, parameters and state aside.
llvm::DenseSet<Value> sharedRoots(ProgramOp program) {
  llvm::DenseMap<Value, size_t> toucher;
  llvm::DenseSet<Value> shared;
  auto touch = [&](size_t actor, Value buffer) {
    Value root = rootOf(buffer);
    auto [it, added] = toucher.try_emplace(root, actor);
    if (!added && it->second != actor && !isState(root)) {
      shared.insert(root);
    }
  };
  for (auto [index, actor] : llvm::enumerate(program.getBody().getOps<ActorOp>())) {
    for (Value buffer : actor.getAfter()) {
      touch(index, buffer);
    }
    for (Operation &op : actor.getBody().front()) {
      for (Value operand : op.getOperands()) {
        touch(index, operand);
      }
    }
  }
  return shared;
}

} // namespace

Registers::Registers(ProgramOp program) {
  llvm::DenseSet<Value> shared = sharedRoots(program);
  auto actors = llvm::to_vector(program.getBody().getOps<ActorOp>());
  for (auto [index, actor] : llvm::enumerate(actors)) {
    for (Operation &op : actor.getBody().front()) {
      for (Value output : outputsOf(&op)) {
        writer_.try_emplace(output, index);
      }
    }
  }
  for (auto [index, actor] : llvm::enumerate(actors)) {
    llvm::SetVector<Value> reads, writes;
    auto read = [&](Value buffer) {
      Value value = valueOf(buffer);
      auto it = writer_.find(value);
      if (shared.contains(rootOf(value)) && it != writer_.end() && it->second != index) {
        reads.insert(value);
      }
    };
    for (Value buffer : actor.getAfter()) {
      read(buffer);
    }
    for (Operation &op : actor.getBody().front()) {
      // Of a sum that comes from a tier, a fetch reads what the micro-batch before has left.
      if (auto move = llvm::dyn_cast<MoveKernel>(op); !move || !move.fetchesSum()) {
        llvm::for_each(inputsOf(&op), read);
      }
      for (Value output : outputsOf(&op)) {
        if (shared.contains(rootOf(output)) && writer_.lookup(output) == index) {
          writes.insert(output);
        }
      }
    }
    reads_.emplace_back(reads.begin(), reads.end());
    writes_.emplace_back(writes.begin(), writes.end());
  }
}

// The buffer whose value a read sees: through views that nobody writes.
Value Registers::valueOf(Value buffer) const {
  while (!writer_.contains(buffer)) {
    auto alias = buffer.getDefiningOp<AliasOp>();
    if (!alias) {
      break;
    }
    buffer = alias.getSource();
  }
  return buffer;
}

} // namespace weft::task
