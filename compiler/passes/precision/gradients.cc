// Narrow gradients of what has a narrow copy.
#include "compiler/passes/precision/passes.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/optimizer/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONGRADIENTS
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;
using mlir::Operation;
using mlir::Value;

// Whether `op` updates a parameter that has a working copy by `gradient`.
bool updatesCopied(Operation *op, Value gradient, mlir::Type narrow) {
  return llvm::isa<SgdOp, SgdMomentumOp, AdamOp>(op) && op->getOperand(1) == gradient &&
         llvm::any_of(op->getOperand(0).getUsers(), [&](Operation *reader) {
           auto cast = llvm::dyn_cast<CastOp>(reader);
           return cast && cast.getTo() == narrow;
         });
}

struct PrecisionGradients : impl::PrecisionGradientsBase<PrecisionGradients> {
  using PrecisionGradientsBase::PrecisionGradientsBase;

  void runOnOperation() override {
    mlir::FailureOr<mlir::Type> found = narrowType(getOperation(), type);
    if (failed(found)) {
      return signalPassFailure();
    }
    if (getOperation().getMicroBatches() > 1) {
      return;
    }
    for (auto sum : llvm::to_vector(getOperation().getBody().getOps<AccumulateOp>())) {
      narrow(sum, *found);
    }
  }

private:
  void narrow(AccumulateOp sum, mlir::Type type) {
    Value gradient = sum.getResult();
    if (!tensorOf(gradient).getElementType().isF32() ||
        llvm::none_of(gradient.getUsers(), [&](Operation *user) { return updatesCopied(user, gradient, type); })) {
      return;
    }
    auto product = sum.getInput().getDefiningOp<EinsumOp>();
    if (product && product->hasOneUse() && tensorOf(product.getLhs()).getElementType() == type) {
      product.removeResultTypeAttr();
      product.getResult().setType(mlir::RankedTensorType::get(shapeOf(product.getResult()), type));
    } else {
      mlir::OpBuilder builder(sum);
      auto cast = create<CastOp>(builder, sum.getLoc(), sum.getInput(), mlir::TypeAttr::get(type));
      setBelongings(cast, belongingsOf(sum));
      sum.getInputMutable().assign(cast);
    }
    gradient.setType(mlir::RankedTensorType::get(shapeOf(gradient), type));
  }
};

} // namespace
} // namespace weft::compiler
