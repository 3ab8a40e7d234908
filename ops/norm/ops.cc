// Shapes, sharding rules and gradients of normalisations.
#include "ops/norm/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/norm/ops.cpp.inc"

namespace weft::ir {

namespace {

// A row's weight: the last dimension of `input` alone; its element type, or float32 if `weight` is that.
RankedTensorType weightType(Value input, Value weight) {
  mlir::Type element = tensorOf(weight).getElementType();
  return RankedTensorType::get(shapeOf(input).take_back(),
                               element.isF32() ? element : tensorOf(input).getElementType());
}

// One float32 a row: `input` without the last dimension.
RankedTensorType statisticType(Value input) {
  return RankedTensorType::get(shapeOf(input).drop_back(), mlir::Float32Type::get(input.getContext()));
}

LogicalResult requireNormalizable(mlir::Operation *op, Value input, Value weight) {
  return mlir::failure(failed(requireRows(op, input)) || failed(requireFloat(op, input)) ||
                       failed(requireType(op, "weight", weight, weightType(input, weight))));
}

// The types of the result and of `statistics`, of which there may be none or `all`.
LogicalResult inferNormalized(mlir::Operation *op, Value input, mlir::Attribute eps, size_t statistics, size_t all,
                              SmallVectorImpl<RankedTensorType> &results) {
  if (!(floatOf(eps) > 0)) {
    return op->emitOpError() << "eps: expected a positive number, got " << floatOf(eps);
  }
  if (statistics != 0 && statistics != all) {
    return op->emitOpError() << "statistics: expected none or " << all << ", got " << statistics;
  }
  results.push_back(withSbp(tensorOf(input), {}));
  results.append(statistics, statisticType(input));
  return mlir::success();
}

// The op with its statistics as results: `op` itself or, replacing it, a new one.
template <typename Op, unsigned Statistics, typename... Args> Op withStatistics(RewriterBase &b, Op op, Args... args) {
  if (!op.getStatistics().empty()) {
    return op;
  }
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  Op full = create<Op, 1 + Statistics>(b, op.getLoc(), args...);
  full->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  b.replaceAllUsesWith(op.getResult(), full.getResult());
  b.eraseOp(op);
  return full;
}

} // namespace

LogicalResult LayerNormOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireNormalizable(*this, getInput(), getWeight())) ||
      failed(requireType(*this, "bias", getBias(), weightType(getInput(), getWeight())))) {
    return mlir::failure();
  }
  return inferNormalized(*this, getInput(), getEps(), getStatistics().size(), 2, results);
}

ShardingRule LayerNormOp::getShardingRule() {
  return ruleOf(*this, getStatistics().empty() ? ".H,H,H->.H" : ".H,H,H->.H,.,.");
}

LogicalResult LayerNormOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  auto op = withStatistics<LayerNormOp, 2>(b, *this, getInput(), getWeight(), getBias(), getEps());
  auto gradient = create<LayerNormGradOp, 3>(b, op.getLoc(), g[0], op.getInput(), op.getWeight(), op.getStatistics()[0],
                                             op.getStatistics()[1]);
  llvm::append_range(out, gradient->getResults());
  return mlir::success();
}

LogicalResult LayerNormGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  Value dy = getDy();
  if (failed(requireNormalizable(*this, dy, getWeight())) ||
      failed(requireType(*this, "input", getInput(), tensorOf(dy))) ||
      failed(requireType(*this, "mean", getMean(), statisticType(dy))) ||
      failed(requireType(*this, "rstd", getRstd(), statisticType(dy)))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(dy), {}));
  results.append(2, weightType(dy, getWeight()));
  return mlir::success();
}

ShardingRule LayerNormGradOp::getShardingRule() { return ruleOf(*this, ".H,.H,H,.,.->.H,H,H").withLinear({{0}}); }

LogicalResult RmsNormOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireNormalizable(*this, getInput(), getWeight()))) {
    return mlir::failure();
  }
  return inferNormalized(*this, getInput(), getEps(), getStatistics().size(), 1, results);
}

ShardingRule RmsNormOp::getShardingRule() { return ruleOf(*this, getStatistics().empty() ? ".H,H->.H" : ".H,H->.H,."); }

LogicalResult RmsNormOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  auto op = withStatistics<RmsNormOp, 1>(b, *this, getInput(), getWeight(), getEps());
  auto gradient = create<RmsNormGradOp, 2>(b, op.getLoc(), g[0], op.getInput(), op.getWeight(), op.getStatistics()[0]);
  llvm::append_range(out, gradient->getResults());
  return mlir::success();
}

LogicalResult RmsNormGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  Value dy = getDy();
  if (failed(requireNormalizable(*this, dy, getWeight())) ||
      failed(requireType(*this, "input", getInput(), tensorOf(dy))) ||
      failed(requireType(*this, "rstd", getRstd(), statisticType(dy)))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(dy), {}));
  results.push_back(weightType(dy, getWeight()));
  return mlir::success();
}

ShardingRule RmsNormGradOp::getShardingRule() { return ruleOf(*this, ".H,.H,H,.->.H,H").withLinear({{0}}); }

} // namespace weft::ir
