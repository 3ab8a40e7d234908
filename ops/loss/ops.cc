// Shapes, sharding rules, gradient and decomposition of cross entropy.
#include "ops/loss/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/reduce/ops.h"

#define GET_OP_CLASSES
#include "ops/loss/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;

RankedTensorType f32Tensor(mlir::MLIRContext *context, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, mlir::Float32Type::get(context));
}

// Logits are floating-point numbers with one dimension or more; `rows` is their shape without the last.
LogicalResult requireLogits(mlir::Operation *op, Value logits, ArrayRef<int64_t> &rows) {
  RankedTensorType type = withSbp(tensorOf(logits), {});
  if (type.getRank() == 0 || !llvm::isa<mlir::FloatType>(type.getElementType())) {
    return op->emitOpError() << "logits: expected floating-point numbers and one dimension or more, got " << type;
  }
  rows = shapeOf(logits).drop_back();
  return mlir::success();
}

LogicalResult requireLabels(mlir::Operation *op, Value labels, ArrayRef<int64_t> rows) {
  mlir::Type i32 = mlir::IntegerType::get(op->getContext(), 32);
  return requireType(op, "labels", labels, RankedTensorType::get(rows, i32));
}

LogicalResult requireRowStatistic(mlir::Operation *op, llvm::StringRef name, Value value, ArrayRef<int64_t> rows) {
  return requireType(op, name, value, f32Tensor(op->getContext(), rows));
}

// The statistics that loss and gradient share; common subexpressions are merged later.
std::pair<Value, Value> rowStatistics(mlir::OpBuilder &b, mlir::Location loc, Value logits) {
  Value max = reduce(b, loc, logits, "max", {tensorOf(logits).getRank() - 1}, /*keepDims=*/false,
                     /*toF32=*/!tensorOf(logits).getElementType().isF32());
  return {max, create<SumExpOp>(b, loc, logits, max)};
}

} // namespace

LogicalResult CrossEntropyOp::inferTypes(Types &results) {
  ArrayRef<int64_t> rows;
  if (failed(requireLogits(*this, getLogits(), rows)) || failed(requireLabels(*this, getLabels(), rows))) {
    return mlir::failure();
  }
  results.append(2, f32Tensor(getContext(), {}));
  return mlir::success();
}

// What can be split is what it decomposes into.
ShardingRule CrossEntropyOp::getShardingRule() {
  return ShardingRule::replicated({shapeOf(getLogits()), shapeOf(getLabels())},
                                  {shapeOf(getLoss()), shapeOf(getCount())});
}

LogicalResult CrossEntropyOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.assign(2, Value()); // labels are integers, and the count does not depend on the logits
  if (g[0]) {
    // Beside the forward op, where CSE merges them with those that it decomposes into.
    mlir::OpBuilder::InsertPoint backward = b.saveInsertionPoint();
    b.setInsertionPoint(*this);
    auto [max, sum] = rowStatistics(b, getLoc(), getLogits());
    b.restoreInsertionPoint(backward);
    out[0] = create<CrossEntropyGradOp>(b, getLoc(), g[0], getLogits(), max, sum, getLabels(), getIgnoreIndexAttr());
  }
  return mlir::success();
}

LogicalResult CrossEntropyOp::decompose(mlir::RewriterBase &b) {
  auto [max, sum] = rowStatistics(b, getLoc(), getLogits());
  Value picked = create<PickOp>(b, getLoc(), getLogits(), getLabels(), getIgnoreIndexAttr());
  auto loss = create<CrossEntropyLossOp, 2>(b, getLoc(), max, sum, picked, getLabels(), getIgnoreIndexAttr());
  b.replaceOp(*this, loss);
  return mlir::success();
}

LogicalResult SumExpOp::inferTypes(Types &results) {
  ArrayRef<int64_t> rows;
  if (failed(requireLogits(*this, getLogits(), rows)) || failed(requireRowStatistic(*this, "max", getMax(), rows))) {
    return mlir::failure();
  }
  results.push_back(f32Tensor(getContext(), rows));
  return mlir::success();
}

ShardingRule SumExpOp::getShardingRule() { return ruleOf(*this, ".v,.->.").withNeutral(0, ShardingRule::kLowest); }

// A difference, an exponential and an addition a logit.
Cost SumExpOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = 3.0 * double(operands[0].getNumElements());
  return cost;
}

LogicalResult PickOp::inferTypes(Types &results) {
  ArrayRef<int64_t> rows;
  if (failed(requireLogits(*this, getLogits(), rows)) || failed(requireLabels(*this, getLabels(), rows))) {
    return mlir::failure();
  }
  results.push_back(f32Tensor(getContext(), rows));
  return mlir::success();
}

// Logits that no label names add nothing, whatever they are: those of `sum_exp` will do.
ShardingRule PickOp::getShardingRule() {
  return ruleOf(*this, ".v,.->.").withLinear({{0}}).withNeutral(0, ShardingRule::kLowest);
}

// One logit a row is read.
Cost PickOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost;
  cost.bytes = double(bytesOf(operands[1])) + 2 * double(bytesOf(results[0]));
  return cost;
}

LogicalResult CrossEntropyLossOp::inferTypes(Types &results) {
  ArrayRef<int64_t> rows = shapeOf(getLabels());
  if (failed(requireLabels(*this, getLabels(), rows)) || failed(requireRowStatistic(*this, "max", getMax(), rows)) ||
      failed(requireRowStatistic(*this, "sum", getSum(), rows)) ||
      failed(requireRowStatistic(*this, "picked", getPicked(), rows))) {
    return mlir::failure();
  }
  results.append(2, f32Tensor(getContext(), {}));
  return mlir::success();
}

ShardingRule CrossEntropyLossOp::getShardingRule() {
  return ruleOf(*this, ".,.,.,.->,").withNeutral(3, double(int64_t(getIgnoreIndex())));
}

// A logarithm, two additions to the row and one to each sum.
Cost CrossEntropyLossOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = 5.0 * double(operands[0].getNumElements());
  return cost;
}

LogicalResult CrossEntropyGradOp::inferTypes(Types &results) {
  ArrayRef<int64_t> rows;
  if (failed(requireType(*this, "dloss", getDloss(), f32Tensor(getContext(), {}))) ||
      failed(requireLogits(*this, getLogits(), rows)) || failed(requireRowStatistic(*this, "max", getMax(), rows)) ||
      failed(requireRowStatistic(*this, "sum", getSum(), rows)) || failed(requireLabels(*this, getLabels(), rows))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getLogits()), {}));
  return mlir::success();
}

ShardingRule CrossEntropyGradOp::getShardingRule() { return ruleOf(*this, ",.v,.,.,.->.v").withLinear({{0}}); }

// A difference, an exponential, a division, the label and the factor, a logit.
Cost CrossEntropyGradOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = 5.0 * double(operands[1].getNumElements());
  return cost;
}

} // namespace weft::ir
