// Shapes, sharding rules and gradient of softmax.
#include "ops/softmax/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/softmax/ops.cpp.inc"

namespace weft::ir {

LogicalResult SoftmaxOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return mlir::failure(failed(requireRows(*this, getInput())) || failed(inferLikeOperand(*this, results)));
}

ShardingRule SoftmaxOp::getShardingRule() { return ruleOf(*this, ".V->.V"); }

LogicalResult SoftmaxOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<SoftmaxGradOp>(b, getLoc(), g[0], getResult()));
  return mlir::success();
}

LogicalResult SoftmaxGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return mlir::failure(failed(requireRows(*this, getDy())) || failed(inferLikeOperand(*this, results)) ||
                       failed(requireType(*this, "y", getY(), tensorOf(getDy()))));
}

ShardingRule SoftmaxGradOp::getShardingRule() { return ruleOf(*this, ".V,.V->.V").withLinear({{0}}); }

} // namespace weft::ir
