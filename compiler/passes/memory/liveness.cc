#include "compiler/passes/memory/liveness.h"

namespace weft::compiler {

using mlir::Operation;
using mlir::Value;
using task::BufferKind;

Liveness::Liveness(task::ProgramOp program) {
  bool repeats = program.getMicroBatches() > 1;
  llvm::DenseMap<Value, unsigned> sections; // bit 0: micro, bit 1: step
  llvm::DenseSet<Value> carried;            // read before written within a micro-batch
  int64_t microEnd = 0;
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    bool step = actor.getSection() == task::Section::Step;
    for (Operation &op : actor.getBody().front()) {
      // The collectives of an actor run at once.
      Operation *before = op.getPrevNode();
      bool joins = before && llvm::isa<task::CollectiveOp>(op) && llvm::isa<task::CollectiveOp>(before);
      int64_t at = joins ? positions_ - 1 : positions_++;
      index_[&op] = at;
      for (Value operand : op.getOperands()) {
        Value root = task::rootOf(operand);
        Life &life = lives_[root];
        life.first = life.first < 0 ? at : life.first;
        life.last = at;
        sections[root] |= step ? 2u : 1u;
      }
      auto kernel = llvm::dyn_cast<task::KernelOp>(op);
      if (kernel && kernel.getName() == "accumulate") {
        carried.insert(task::rootOf(kernel.getOutputs()[0]));
      }
    }
    microEnd = step ? microEnd : positions_;
  }
  for (auto &[root, life] : lives_) {
    auto buffer = root.getDefiningOp<task::BufferOp>();
    BufferKind kind = buffer.getKind();
    life.always = kind == BufferKind::Parameter || kind == BufferKind::Optimizer || kind == BufferKind::Input;
    if (repeats && (sections[root] == 3u || carried.contains(root))) {
      life.first = 0;
      life.last = std::max(life.last, microEnd - 1);
    }
  }
  for (auto metric : program.getBody().getOps<task::MetricOp>()) {
    lives_[task::rootOf(metric.getBuffer())].last = positions_;
  }
}

Life Liveness::of(Value root) const { return lives_.lookup(root); }

} // namespace weft::compiler
