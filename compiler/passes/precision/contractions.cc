// Narrow operands for contractions.
#include "compiler/passes/precision/passes.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONCONTRACTIONS
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;

struct PrecisionContractions : impl::PrecisionContractionsBase<PrecisionContractions> {
  using PrecisionContractionsBase::PrecisionContractionsBase;

  void runOnOperation() override {
    mlir::FailureOr<mlir::Type> found = narrowType(getOperation(), type);
    if (failed(found)) {
      return signalPassFailure();
    }
    mlir::Type narrow = *found, wide = mlir::Float32Type::get(&getContext());
    llvm::DenseMap<mlir::Value, mlir::Value> casts; // one a value
    getOperation().walk([&](EinsumOp op) {
      if (tensorOf(op.getLhs()).getElementType() != wide) {
        return;
      }
      for (mlir::OpOperand &operand : op->getOpOperands()) {
        mlir::Value &cast = casts[operand.get()];
        if (!cast) {
          // That of a parameter, its working copy, stands beside it, others before their first reader.
          auto parameter = operand.get().getDefiningOp<ParameterOp>();
          mlir::OpBuilder builder(op);
          if (parameter) {
            builder.setInsertionPointAfter(parameter);
          }
          auto made = create<CastOp>(builder, op.getLoc(), operand.get(), mlir::TypeAttr::get(narrow));
          setBelongings(made, belongingsOf(parameter ? parameter.getOperation() : op.getOperation()));
          cast = made;
        }
        operand.set(cast);
      }
      op.setResultTypeAttr(mlir::TypeAttr::get(wide));
    });
  }
};

} // namespace
} // namespace weft::compiler
