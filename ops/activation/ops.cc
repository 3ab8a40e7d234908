// Shapes, sharding rules and gradients of activation functions.
#include "ops/activation/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/activation/ops.cpp.inc"

namespace weft::ir {

namespace {

// Both operands, dy and x, and the result dx have one type.
LogicalResult inferGradient(mlir::Operation *op, SmallVectorImpl<RankedTensorType> &results) {
  return mlir::failure(failed(inferLikeOperand(op, results)) ||
                       failed(requireType(op, "x", op->getOperand(1), tensorOf(op->getOperand(0)))));
}

LogicalResult requireApproximation(mlir::Operation *op, llvm::StringRef approximate) {
  if (approximate != "none" && approximate != "tanh") {
    return op->emitOpError() << "approximate: expected none or tanh, got " << approximate;
  }
  return mlir::success();
}

// A gradient is linear in dy, operand 0.
ShardingRule gradientRule(mlir::Operation *op) {
  ShardingRule rule = pointwiseRule(op);
  rule.linear = {{0}};
  return rule;
}

} // namespace

LogicalResult ReluOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return inferLikeOperand(*this, results);
}
ShardingRule ReluOp::getShardingRule() { return pointwiseRule(*this); }

LogicalResult SiluOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return inferLikeOperand(*this, results);
}
ShardingRule SiluOp::getShardingRule() { return pointwiseRule(*this); }

LogicalResult GeluOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return mlir::failure(failed(requireApproximation(*this, getApproximate())) ||
                       failed(inferLikeOperand(*this, results)));
}
ShardingRule GeluOp::getShardingRule() { return pointwiseRule(*this); }

LogicalResult ReluGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return inferGradient(*this, results);
}
ShardingRule ReluGradOp::getShardingRule() { return gradientRule(*this); }

LogicalResult SiluGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return inferGradient(*this, results);
}
ShardingRule SiluGradOp::getShardingRule() { return gradientRule(*this); }

LogicalResult GeluGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return mlir::failure(failed(requireApproximation(*this, getApproximate())) || failed(inferGradient(*this, results)));
}
ShardingRule GeluGradOp::getShardingRule() { return gradientRule(*this); }

LogicalResult ReluOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<ReluGradOp>(b, getLoc(), g[0], getInput()));
  return mlir::success();
}

LogicalResult SiluOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<SiluGradOp>(b, getLoc(), g[0], getInput()));
  return mlir::success();
}

LogicalResult GeluOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<GeluGradOp>(b, getLoc(), g[0], getInput(), getApproximateAttr()));
  return mlir::success();
}

} // namespace weft::ir
