#include "compiler/passes/memory/liveness.h"

namespace weft::compiler {

using mlir::Operation;
using mlir::Value;
using task::BufferKind;

namespace {

// Where the bytes of a buffer are touched.
struct Touched {
  bool begin = false, micro = false, step = false;
  bool carried = false; // read before written within a micro-batch
  bool moved = false;   // by a stream that computes at its own pace beside the others
  llvm::SmallVector<mlir::StringAttr, 2> units;
};

} // namespace

Liveness::Liveness(task::ProgramOp program) {
  bool repeats = program.getMicroBatches() > 1;
  llvm::DenseMap<Value, Touched> touched;
  int64_t microBegin = -1, microEnd = 0;
  for (auto actor : program.getBody().getOps<task::ActorOp>()) {
    bool micro = actor.getSection() == task::Section::Micro;
    microBegin = micro && microBegin < 0 ? positions_ : microBegin;
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
        Touched &touch = touched[root];
        touch.begin |= actor.getSection() == task::Section::Begin;
        touch.step |= actor.getSection() == task::Section::Step;
        touch.micro |= micro;
        touch.moved |= actor.getStream() != task::StreamKind::Compute;
        if (actor.getUnitAttr() && !llvm::is_contained(touch.units, actor.getUnitAttr())) {
          touch.units.push_back(actor.getUnitAttr());
        }
      }
      auto kernel = llvm::dyn_cast<task::KernelOp>(op);
      if (kernel && kernel.getName() == "accumulate") {
        touched[task::rootOf(kernel.getOutputs()[0])].carried = true;
      }
    }
    microEnd = micro ? positions_ : microEnd;
  }
  for (auto &[root, life] : lives_) {
    auto buffer = root.getDefiningOp<task::BufferOp>();
    BufferKind kind = buffer.getKind();
    const Touched &touch = touched[root];
    life.always =
        kind == BufferKind::Parameter || kind == BufferKind::Optimizer || kind == BufferKind::Input || touch.moved;
    // Between two units of a micro-batch there may be any of another one, if the program orders them.
    bool across = touch.micro && (touch.begin || touch.step);
    bool spans = touch.units.size() > 1 && program.getUnits();
    if (repeats && (across || touch.carried || spans)) {
      life.first = touch.begin ? life.first : std::min(life.first, microBegin);
      life.last = std::max(life.last, microEnd - 1);
    }
  }
  for (auto metric : program.getBody().getOps<task::MetricOp>()) {
    lives_[task::rootOf(metric.getBuffer())].last = positions_;
  }
}

Life Liveness::of(Value root) const { return lives_.lookup(root); }

} // namespace weft::compiler
