// Shape, sharding rule and gradient of reductions.
#include "ops/reduce/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/elementwise/ops.h"
#include "ops/layout/ops.h"
#include "ops/logic/ops.h"

#define GET_OP_CLASSES
#include "ops/reduce/ops.cpp.inc"

namespace weft::ir {

mlir::Value reduce(mlir::OpBuilder &builder, mlir::Location loc, Value input, llvm::StringRef kind,
                   ArrayRef<int64_t> dims, bool keepDims, bool toF32) {
  return create<ReduceOp>(builder, loc, builder.getStringAttr(kind), input, builder.getI64ArrayAttr(dims),
                          keepDims ? builder.getUnitAttr() : mlir::UnitAttr(),
                          toF32 ? mlir::TypeAttr::get(builder.getF32Type()) : mlir::TypeAttr());
}

LogicalResult ReduceOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = tensorOf(getInput());
  if (!llvm::is_contained({"sum", "mean", "max"}, getKind())) {
    return emitOpError() << "kind: expected sum, mean or max, got " << getKind();
  }
  if (failed(requireFloat(*this, getInput()))) {
    return mlir::failure();
  }
  llvm::SmallBitVector reduced(input.getRank());
  for (int64_t dim : intsOf(getDims())) {
    if (failed(requireIndex(*this, "dims", dim, input.getRank()))) {
      return mlir::failure();
    }
    if (reduced.test(dim)) {
      return emitOpError() << "dims: expected distinct dimensions, got " << dim << " twice";
    }
    reduced.set(dim);
  }
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < input.getRank(); ++d) {
    if (!reduced.test(d)) {
      shape.push_back(input.getDimSize(d));
    } else if (getKeepDims()) {
      shape.push_back(1);
    }
  }
  if (getResultType() && !getResultType()->isF32()) {
    return emitOpError() << "result type: expected 'f32', got " << *getResultType();
  }
  results.push_back(RankedTensorType::get(shape, getResultType().value_or(input.getElementType())));
  return mlir::success();
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule = ShardingRule::pointwise({shapeOf(getInput())}, shapeOf(getInput()));
  SmallVector<int64_t> dims = intsOf(getDims());
  ShardingRule::Tensor result;
  for (auto [d, dim] : llvm::enumerate(rule.results[0])) {
    if (!llvm::is_contained(dims, int64_t(d))) {
      result.push_back(dim);
    } else if (getKeepDims()) {
      result.push_back({});
    }
  }
  rule.results[0] = result;
  if (getKind() == "max") {
    rule.reduction = SbpState::PartialMax;
    rule.neutral = {{0, ShardingRule::kLowest}};
  } else {
    rule.linear = {{0}};
  }
  return rule;
}

LogicalResult ReduceOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  ArrayRef<int64_t> shape = shapeOf(getInput());
  SmallVector<int64_t> dims = intsOf(getDims()), kept(shape);
  int64_t count = 1;
  for (int64_t dim : dims) {
    kept[dim] = 1;
    count *= shape[dim];
  }
  // A value of the result's shape, with the reduced dimensions back as 1.
  auto keep = [&](Value value) { return getKeepDims() ? value : reshape(b, getLoc(), value, kept); };
  mlir::Type element = tensorOf(getInput()).getElementType();
  auto ofInput = [&](Value value) {
    return tensorOf(value).getElementType() == element ? value
                                                       : create<CastOp>(b, getLoc(), value, element).getResult();
  };
  Value gradient = keep(ofInput(g[0]));
  if (getKind() == "max") {
    Value mask = create<EqualOp>(b, getLoc(), getInput(), keep(ofInput(getResult())), b.getUnitAttr());
    Value ties = reduce(b, getLoc(), mask, "sum", dims, /*keepDims=*/true);
    out.push_back(create<MulOp>(b, getLoc(), mask, create<DivOp>(b, getLoc(), gradient, ties)));
    return mlir::success();
  }
  if (getKind() == "mean") {
    gradient = create<ScaleOp>(b, getLoc(), gradient, b.getF64FloatAttr(1.0 / double(count)));
  }
  out.push_back(create<BroadcastToOp>(b, getLoc(), gradient, b.getI64ArrayAttr(shape)));
  return mlir::success();
}

} // namespace weft::ir
