// Narrow gradients of what has a narrow copy.
#include "compiler/passes/precision/narrow_type.h"
#include "compiler/passes/precision/passes.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONGRADIENTS
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;

// Whether `op` updates a parameter that has a working copy by `gradient`.
bool updatesCopied(Operation *op, Value gradient, mlir::Type narrow) {
  auto update = llvm::dyn_cast<UpdateOpInterface>(op);
  return update && update.getGradient() == gradient &&
         llvm::any_of(update.getParameter().getUsers(), [&](Operation *reader) {
           auto cast = llvm::dyn_cast<CastOp>(reader);
           return cast && cast.getTo() == narrow;
         });
}

// What adds up the parts that several stages have of a gradient, nullptr if it is no part.
Operation *additionOf(AccumulateOp sum) {
  auto isPart = [](Value part) {
    auto wide = part.getDefiningOp<CastOp>(); // of one that has been narrowed
    return bool((wide ? wide.getInput() : part).getDefiningOp<AccumulateOp>());
  };
  Operation *user = sum.getResult().hasOneUse() ? *sum.getResult().user_begin() : nullptr;
  return llvm::isa_and_nonnull<AddOp, AddNOp>(user) && llvm::all_of(user->getOperands(), isPart) ? user : nullptr;
}

// The cast of a sum that is its one user, or the sum itself.
Value roundedOf(Value sum) {
  auto cast = sum.hasOneUse() ? llvm::dyn_cast<CastOp>(*sum.user_begin()) : CastOp();
  return cast ? cast.getResult() : sum;
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
    Operation *addition = additionOf(sum);
    Value part = sum.getResult(), gradient = addition ? roundedOf(addition->getResult(0)) : part;
    if (!tensorOf(part).getElementType().isF32() ||
        llvm::none_of(gradient.getUsers(), [&](Operation *user) { return updatesCopied(user, gradient, type); })) {
      return;
    }
    // What sums up narrow operands in float32 may round the sum itself.
    Operation *producer = sum.getInput().getDefiningOp();
    if (producer && producer->hasOneUse() && producer->hasAttr("result_type") &&
        tensorOf(producer->getOperand(0)).getElementType() == type) {
      producer->removeAttr("result_type");
      producer->getResult(0).setType(mlir::RankedTensorType::get(shapeOf(sum.getInput()), type));
    } else {
      mlir::OpBuilder builder(sum);
      sum.getInputMutable().assign(castBeside(builder, sum, sum.getInput(), type));
    }
    part.setType(mlir::RankedTensorType::get(shapeOf(part), type));
    if (addition) {
      addWide(addition, part, type);
    }
  }

  // The sum of parts that have become narrow is one of float32, rounded once.
  void addWide(Operation *addition, Value part, mlir::Type type) {
    mlir::OpBuilder builder(addition);
    auto wide = castBeside(builder, addition, part, mlir::Float32Type::get(&getContext()));
    addition->replaceUsesOfWith(part, wide);
    Value sum = addition->getResult(0);
    if (roundedOf(sum) != sum) {
      return; // for another part
    }
    builder.setInsertionPointAfter(addition);
    auto rounded = castBeside(builder, addition, sum, type);
    sum.replaceAllUsesExcept(rounded, rounded.getOperation());
  }

  static CastOp castBeside(mlir::OpBuilder &builder, Operation *op, Value value, mlir::Type type) {
    auto cast = create<CastOp>(builder, op->getLoc(), value, mlir::TypeAttr::get(type));
    setBelongings(cast, belongingsOf(op));
    return cast;
  }
};

} // namespace
} // namespace weft::compiler
