#include "compiler/passes/autodiff/passes.h"

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
  void runOnOperation() override {
    llvm::SmallVector<ir::DecomposableOpInterface> composites;
    getOperation().walk([&](ir::DecomposableOpInterface op) { composites.push_back(op); });
    for (ir::DecomposableOpInterface op : composites) {
      CopyListener listener(op);
      mlir::IRRewriter rewriter(&getContext(), &listener);
      rewriter.setInsertionPoint(op);
      if (failed(op.decompose(rewriter))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace weft::compiler
