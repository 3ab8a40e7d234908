// --weft-autodiff-freeze: takes parameters out of training.
#include "compiler/passes/autodiff/names.h"
#include "compiler/passes/autodiff/passes.h"
#include "llvm/ADT/SetVector.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_AUTODIFFFREEZE
#include "compiler/passes/autodiff/Passes.h.inc"
namespace {

using namespace weft::ir;

struct AutodiffFreeze : impl::AutodiffFreezeBase<AutodiffFreeze> {
  using AutodiffFreezeBase::AutodiffFreezeBase;

  void runOnOperation() override {
    llvm::SmallVector<ParameterOp> trained;
    llvm::copy_if(getOperation().getBody().getOps<ParameterOp>(), std::back_inserter(trained),
                  [](ParameterOp parameter) { return !parameter.getState(); });
    llvm::SetVector<Operation *> all;
    for (const std::string &pattern : frozen) {
      auto found = fitting("optimizer.frozen", pattern, trained, getOperation());
      if (failed(found)) {
        return signalPassFailure();
      }
      all.insert(found->begin(), found->end());
    }
    for (Operation *op : all) {
      auto parameter = llvm::cast<ParameterOp>(op);
      mlir::OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(parameter);
      auto stop = create<StopGradientOp>(builder, parameter.getLoc(), parameter.getResult());
      setBelongings(stop, belongingsOf(parameter));
      parameter.getResult().replaceAllUsesExcept(stop, stop);
    }
  }
};

} // namespace
} // namespace weft::compiler
