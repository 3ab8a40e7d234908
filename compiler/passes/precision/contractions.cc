// bfloat16 operands for contractions.
#include "compiler/passes/precision/passes.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONCONTRACTIONS
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;

struct PrecisionContractions : impl::PrecisionContractionsBase<PrecisionContractions> {
  void runOnOperation() override {
    mlir::Type narrow = mlir::BFloat16Type::get(&getContext()), wide = mlir::Float32Type::get(&getContext());
    llvm::DenseMap<mlir::Value, mlir::Value> casts; // one a value, before its first reader
    getOperation().walk([&](EinsumOp op) {
      if (tensorOf(op.getLhs()).getElementType() != wide) {
        return;
      }
      mlir::OpBuilder builder(op);
      for (mlir::OpOperand &operand : op->getOpOperands()) {
        mlir::Value &cast = casts[operand.get()];
        if (!cast) {
          cast = create<CastOp>(builder, op.getLoc(), operand.get(), mlir::TypeAttr::get(narrow));
          cast.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
        }
        operand.set(cast);
      }
      op.setResultTypeAttr(mlir::TypeAttr::get(wide));
    });
  }
};

} // namespace
} // namespace weft::compiler
