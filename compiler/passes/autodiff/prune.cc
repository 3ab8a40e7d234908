#include "compiler/passes/autodiff/passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weft::compiler {
#define GEN_PASS_DEF_AUTODIFFPRUNE
#include "compiler/passes/autodiff/Passes.h.inc"
namespace {

struct AutodiffPrune : impl::AutodiffPruneBase<AutodiffPrune> {
  void runOnOperation() override {
    // Readers stand behind what they read, so they go first.
    for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front()))) {
      if (mlir::isOpTriviallyDead(&op)) {
        op.erase();
      }
    }
  }
};

} // namespace
} // namespace weft::compiler
