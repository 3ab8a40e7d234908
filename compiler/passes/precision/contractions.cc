// bfloat16 operands for contractions, working copies of parameters, bfloat16 gradients.
#include "compiler/passes/precision/passes.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/embedding/ops.h"
#include "ops/optimizer/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONCONTRACTIONS
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;
using mlir::Operation;
using mlir::Value;

struct PrecisionContractions : impl::PrecisionContractionsBase<PrecisionContractions> {
  void runOnOperation() override {
    casts_.clear(); // one pass may run over several graphs
    narrow_ = mlir::BFloat16Type::get(&getContext());
    wide_ = mlir::Float32Type::get(&getContext());
    getOperation().walk([&](EinsumOp op) {
      if (tensorOf(op.getLhs()).getElementType() == wide_) {
        for (mlir::OpOperand &operand : op->getOpOperands()) {
          operand.set(narrowed(operand.get(), op));
        }
        op.setResultTypeAttr(mlir::TypeAttr::get(wide_));
      }
    });
    getOperation().walk([&](EmbeddingOp op) { narrowTable(op); });
    if (getOperation().getMicroBatches() == 1) {
      for (auto sum : llvm::to_vector(getOperation().getBody().getOps<AccumulateOp>())) {
        narrowGradient(sum);
      }
    }
  }

private:
  // One cast a value: that of a parameter is its working copy and stands beside it, others stand before the first
  // reader.
  Value narrowed(Value value, Operation *reader) {
    Value &cast = casts_[value];
    if (!cast) {
      auto parameter = value.getDefiningOp<ParameterOp>();
      mlir::OpBuilder builder(reader);
      if (parameter) {
        builder.setInsertionPointAfter(parameter);
      }
      auto made = create<CastOp>(builder, reader->getLoc(), value, mlir::TypeAttr::get(narrow_));
      setBelongings(made, belongingsOf(parameter ? parameter.getOperation() : reader));
      cast = made;
    }
    return cast;
  }

  void narrowTable(EmbeddingOp op) {
    if (tensorOf(op.getTable()).getElementType() != wide_ || !op.getTable().getDefiningOp<ParameterOp>()) {
      return;
    }
    op.getTableMutable().assign(narrowed(op.getTable(), op));
    op.getResult().setType(mlir::RankedTensorType::get(shapeOf(op.getResult()), narrow_));
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(op);
    auto wide = create<CastOp>(builder, op.getLoc(), op.getResult(), mlir::TypeAttr::get(wide_));
    setBelongings(wide, belongingsOf(op));
    op.getResult().replaceAllUsesExcept(wide, wide);
  }

  // The parameter that an op of an optimizer updates by `gradient`, or null.
  static Value updatedBy(Operation *op, Value gradient) {
    bool updates = llvm::isa<SgdOp, SgdMomentumOp, AdamOp>(op) && op->getOperand(1) == gradient;
    return updates ? op->getOperand(0) : Value();
  }

  // The gradient of a parameter that has a working copy, where nothing is added to it.
  void narrowGradient(AccumulateOp sum) {
    Value gradient = sum.getResult();
    bool ofCopy = llvm::any_of(gradient.getUsers(), [&](Operation *user) {
      return casts_.contains(updatedBy(user, gradient));
    });
    if (!ofCopy || tensorOf(gradient).getElementType() != wide_) {
      return;
    }
    auto product = sum.getInput().getDefiningOp<EinsumOp>();
    if (product && product->hasOneUse() && tensorOf(product.getLhs()).getElementType() == narrow_) {
      product.removeResultTypeAttr();
      product.getResult().setType(mlir::RankedTensorType::get(shapeOf(product.getResult()), narrow_));
    } else {
      mlir::OpBuilder builder(sum);
      auto cast = create<CastOp>(builder, sum.getLoc(), sum.getInput(), mlir::TypeAttr::get(narrow_));
      setBelongings(cast, belongingsOf(sum));
      sum.getInputMutable().assign(cast);
    }
    gradient.setType(mlir::RankedTensorType::get(shapeOf(gradient), narrow_));
  }

  mlir::Type narrow_, wide_;
  llvm::DenseMap<Value, Value> casts_;
};

} // namespace
} // namespace weft::compiler
