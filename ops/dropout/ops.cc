// Shape, sharding rule, gradient and folding of dropout.
#include "ops/dropout/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/dropout/ops.cpp.inc"

namespace weft::ir {

LogicalResult DropoutOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  double rate = floatOf(getRate());
  if (!(rate >= 0 && rate < 1)) {
    return emitOpError() << "rate: expected at least 0 and less than 1, got " << rate;
  }
  return inferLikeOperand(*this, results);
}

ShardingRule DropoutOp::getShardingRule() { return pointwiseRule(*this).withLinear({{0}}); }

LogicalResult DropoutOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  if (getSeed() == 0 && floatOf(getRate()) != 0) {
    return emitOpError("seed: expected one before differentiation, so that both directions drop the same elements");
  }
  out.push_back(create<DropoutOp>(b, getLoc(), g[0], getRate(), getSeedAttr()));
  return mlir::success();
}

mlir::OpFoldResult DropoutOp::fold(FoldAdaptor) {
  bool nothing = !llvm::isa<ExprAttr>(getRate()) && floatOf(getRate()) == 0;
  return nothing && getInput().getType() == getResult().getType() ? getInput() : mlir::OpFoldResult();
}

void DropoutOp::getEffects(SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects) {
  if (getSeed() == 0) {
    effects.emplace_back(mlir::MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
  }
}

} // namespace weft::ir
