// Shapes, sharding rules and gradients of comparisons and choices.
#include "ops/logic/ops.h"

#include "ops/constant/ops.h"
#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/elementwise/ops.h"

#define GET_OP_CLASSES
#include "ops/logic/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;

LogicalResult inferComparison(mlir::Operation *op, Value lhs, Value rhs, bool asNumber, Types &results) {
  mlir::Type element = tensorOf(lhs).getElementType(), truth = booleanType(op->getContext());
  SmallVector<int64_t> shape;
  if (failed(requireOneElementType(op, lhs, rhs)) || (element != truth && failed(requireNumber(op, lhs))) ||
      failed(inferBroadcast(op, shape))) {
    return mlir::failure();
  }
  results.push_back(RankedTensorType::get(shape, asNumber ? element : truth));
  return mlir::success();
}

LogicalResult inferLogical(mlir::Operation *op, Types &results) {
  const llvm::StringRef names[] = {"a", "b"};
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    if (failed(requireBoolean(op, names[operand.getOperandNumber()], operand.get()))) {
      return mlir::failure();
    }
  }
  SmallVector<int64_t> shape;
  if (failed(inferBroadcast(op, shape))) {
    return mlir::failure();
  }
  results.push_back(RankedTensorType::get(shape, booleanType(op->getContext())));
  return mlir::success();
}

} // namespace

#define WEFT_COMPARISON(Op)                                                                                            \
  LogicalResult Op::inferTypes(Types &results) {                                                                       \
    return inferComparison(*this, getLhs(), getRhs(), getAsNumber(), results);                                         \
  }                                                                                                                    \
  ShardingRule Op::getShardingRule() { return pointwiseRule(*this); }                                                  \
  LogicalResult Op::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &out) {                      \
    out.assign(2, Value()); /* constant almost everywhere */                                                           \
    return mlir::success();                                                                                            \
  }
#define WEFT_LOGICAL(Op)                                                                                               \
  LogicalResult Op::inferTypes(Types &results) { return inferLogical(*this, results); }                                \
  ShardingRule Op::getShardingRule() { return pointwiseRule(*this); }

WEFT_COMPARISON(GreaterOp)
WEFT_COMPARISON(GreaterEqualOp)
WEFT_COMPARISON(LessOp)
WEFT_COMPARISON(LessEqualOp)
WEFT_COMPARISON(EqualOp)
WEFT_COMPARISON(NotEqualOp)
WEFT_LOGICAL(LogicalAndOp)
WEFT_LOGICAL(LogicalOrOp)
WEFT_LOGICAL(LogicalNotOp)

LogicalResult SelectOp::inferTypes(Types &results) {
  SmallVector<int64_t> shape;
  if (failed(requireBoolean(*this, "condition", getCondition())) ||
      failed(requireOneElementType(*this, getA(), getB())) || failed(inferBroadcast(*this, shape))) {
    return mlir::failure();
  }
  results.push_back(RankedTensorType::get(shape, tensorOf(getA()).getElementType()));
  return mlir::success();
}

ShardingRule SelectOp::getShardingRule() { return pointwiseRule(*this).withLinear({{1, 2}}); }

// The first of `a` and `b` that has the result's type and is no other operand too.
SmallVector<int64_t> SelectOp::getInPlaceOperands() {
  for (int64_t i : {1, 2}) {
    Value operand = getOperand(unsigned(i));
    if (operand.getType() == getType() && llvm::count(getOperands(), operand) == 1) {
      return {i};
    }
  }
  return {-1};
}

LogicalResult SelectOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  // Not g times a mask: an infinite gradient of the other branch would become NaN.
  Value zero = create<FillOp>(b, getLoc(), b.getArrayAttr({}), b.getF64FloatAttr(0),
                              mlir::TypeAttr::get(tensorOf(g[0]).getElementType()));
  Value left = create<SelectOp>(b, getLoc(), getCondition(), g[0], zero);
  Value right = create<SelectOp>(b, getLoc(), getCondition(), zero, g[0]);
  out.push_back({});
  out.push_back(reduceToShape(b, getLoc(), left, shapeOf(getA())));
  out.push_back(reduceToShape(b, getLoc(), right, shapeOf(getB())));
  return mlir::success();
}

} // namespace weft::ir
