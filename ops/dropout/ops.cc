// Shape, sharding rule, gradient and folding of dropout.
#include "ops/dropout/ops.h"

#include "ops/dialect/assembly.h"

#define GET_OP_CLASSES
#include "ops/dropout/ops.cpp.inc"

namespace weft::ir {

using llvm::ArrayRef;
using llvm::LogicalResult;
using llvm::SmallVectorImpl;
using mlir::RankedTensorType;
using mlir::Value;

LogicalResult DropoutOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = withSbp(tensorOf(getInput()), {});
  if (!llvm::isa<mlir::FloatType>(input.getElementType())) {
    return emitOpError() << "expected a floating-point element type, got " << input.getElementType();
  }
  double rate = floatOf(getRate());
  if (!(rate >= 0 && rate < 1)) {
    return emitOpError() << "rate: expected at least 0 and less than 1, got " << rate;
  }
  results.push_back(input);
  return mlir::success();
}

ShardingRule DropoutOp::getShardingRule() {
  return ShardingRule::pointwise({shapeOf(getInput())}, shapeOf(getResult())).withLinear({{0}});
}

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

void DropoutOp::getEffects(
    SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects) {
  if (getSeed() == 0) {
    effects.emplace_back(mlir::MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
  }
}

void registerDropoutOps(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *, WeftDialect *dialect) {
    dialect->addFamily<
#define GET_OP_LIST
#include "ops/dropout/ops.cpp.inc"
        >();
  });
}

} // namespace weft::ir
