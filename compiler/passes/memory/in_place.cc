// Results that take over the bytes of dying operands.
#include "compiler/passes/memory/liveness.h"
#include "compiler/passes/memory/passes.h"

namespace weft::compiler {
#define GEN_PASS_DEF_MEMORYINPLACE
#include "compiler/passes/memory/Passes.h.inc"
namespace {

using mlir::Operation;
using mlir::Value;

struct MemoryInPlace : impl::MemoryInPlaceBase<MemoryInPlace> {
  void runOnOperation() override {
    task::ProgramOp program = getOperation();
    Liveness liveness(program);
    llvm::DenseMap<Value, int64_t> last; // of merged roots, kept up to date
    auto lastOf = [&](Value root) {
      auto it = last.find(root);
      return it != last.end() ? it->second : liveness.of(root).last;
    };
    auto share = [&](Operation *op, Value operand, Value result) {
      Value from = task::rootOf(operand);
      auto buffer = result.getDefiningOp<task::BufferOp>();
      if (!buffer || from == result || !mayDie(from) || !mayDie(result)) {
        return;
      }
      int64_t at = liveness.positionOf(op);
      Life fromLife = liveness.of(from), toLife = liveness.of(result);
      auto bytes = [&](Value v) { return task::localBytesOf(task::tensorOf(v), program.getPlacement()); };
      if (fromLife.always || toLife.always || lastOf(from) != at || toLife.first != at ||
          bytes(from) != bytes(result) || operandsOn(op, from) != 1) {
        return;
      }
      int64_t end = lastOf(result);
      mlir::OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(later(buffer, operand.getDefiningOp()));
      auto alias = builder.create<task::AliasOp>(buffer.getLoc(), result.getType(), operand);
      // What ends as a gradient counts as one.
      if (buffer.getKind() == task::BufferKind::Gradient) {
        from.getDefiningOp<task::BufferOp>().setKind(task::BufferKind::Gradient);
      }
      result.replaceAllUsesWith(alias);
      buffer.erase();
      last[from] = end;
      ++numShared;
    };
    for (auto actor : program.getBody().getOps<task::ActorOp>()) {
      for (Operation &op : actor.getBody().front()) {
        if (auto kernel = llvm::dyn_cast<task::KernelOp>(op); kernel && kernel.getInPlace()) {
          for (auto [i, operand] : llvm::enumerate(*kernel.getInPlace())) {
            if (operand >= 0) {
              share(&op, kernel.getInputs()[operand], kernel.getOutputs()[i]);
            }
          }
        } else if (auto collective = llvm::dyn_cast<task::CollectiveOp>(op);
                   collective && collective.getKind() == task::CollectiveKind::AllReduce) {
          share(&op, collective.getInput(), collective.getOutput());
        }
      }
    }
  }

private:
  // Of `op` and of the collectives that run with it.
  static int64_t operandsOn(Operation *op, Value root) {
    auto count = [&](Operation &it) {
      return llvm::count_if(it.getOperands(), [&](Value v) { return task::rootOf(v) == root; });
    };
    if (!llvm::isa<task::CollectiveOp>(op)) {
      return count(*op);
    }
    int64_t operands = 0;
    for (auto member : op->getBlock()->getOps<task::CollectiveOp>()) {
      operands += count(*member.getOperation());
    }
    return operands;
  }

  static bool mayDie(Value root) {
    auto buffer = root.getDefiningOp<task::BufferOp>();
    return buffer && buffer.getSlots() == 1 &&
           llvm::is_contained(
               {task::BufferKind::Activation, task::BufferKind::Gradient, task::BufferKind::Communication},
               buffer.getKind());
  }

  static Operation *later(Operation *a, Operation *b) { return a->isBeforeInBlock(b) ? b : a; }
};

} // namespace
} // namespace weft::compiler
