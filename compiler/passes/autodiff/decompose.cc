#include "compiler/passes/autodiff/passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "ops/optimizer/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_AUTODIFFDECOMPOSE
#include "compiler/passes/autodiff/Passes.h.inc"
namespace {

// New ops belong where the op that they replace does.
class CopyListener : public mlir::RewriterBase::Listener {
public:
  explicit CopyListener(mlir::Operation *from) : from_(from) {}
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    ir::setBelongings(op, ir::belongingsOf(from_));
  }

private:
  mlir::Operation *from_;
};

struct AutodiffDecompose : impl::AutodiffDecomposeBase<AutodiffDecompose> {
  using AutodiffDecomposeBase::AutodiffDecomposeBase;

  void runOnOperation() override {
    llvm::SmallVector<ir::DecomposableOpInterface> composites;
    getOperation().walk([&](ir::DecomposableOpInterface op) {
      if (llvm::isa<ir::UpdateOpInterface>(op.getOperation()) == updates) {
        composites.push_back(op);
      }
    });
    for (ir::DecomposableOpInterface op : composites) {
      CopyListener listener(op);
      mlir::IRRewriter rewriter(&getContext(), &listener);
      rewriter.setInsertionPoint(op);
      if (failed(op.decompose(rewriter))) {
        return signalPassFailure();
      }
    }
    if (updates) {
      countSteps();
    }
    // Parameters share the numbers that depend on the step alone.
    if (updates && !composites.empty()) {
      mlir::IRRewriter rewriter(&getContext());
      mlir::DominanceInfo dominance(getOperation());
      mlir::eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    }
  }

private:
  // Updates that count steps, and are given no number, take that of the run, all of a stage the same.
  void countSteps() {
    llvm::SmallDenseMap<int64_t, mlir::Value> ofStage;
    getOperation().walk([&](ir::UpdateOpInterface update) {
      if (!countsSteps(update) || !update.getStepMutable().empty()) {
        return;
      }
      mlir::Value &count = ofStage[ir::stageOf(update)];
      if (!count) {
        CopyListener listener(update);
        mlir::OpBuilder builder(update, &listener);
        count = ir::buildLearningRate(builder, update.getLoc(), 1, "count", {})->getResult();
      }
      update.getStepMutable().assign(count);
    });
  }
};

} // namespace
} // namespace weft::compiler
