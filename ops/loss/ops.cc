// Shapes, sharding rules, gradient and decomposition of cross entropy.
#include "ops/loss/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/elementwise/ops.h"
#include "ops/reduce/ops.h"

namespace weft::ir {
namespace {

using MaybeOperand = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

// Types of the ops that may have weights, whose type is there where they are.
mlir::ParseResult parseCrossEntropyTypes(mlir::OpAsmParser &parser, const MaybeOperand &given, mlir::Type &logits,
                                         mlir::Type &labels, mlir::Type &weights, mlir::Type &loss, mlir::Type &count) {
  return given ? assembly::parseSignature<3>(parser, logits, labels, weights, loss, count)
               : assembly::parseSignature<2>(parser, logits, labels, loss, count);
}

void printCrossEntropyTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Value given, mlir::Type logits,
                            mlir::Type labels, mlir::Type weights, mlir::Type loss, mlir::Type count) {
  if (given) {
    assembly::printSignature<3>(printer, logits, labels, weights, loss, count);
  } else {
    assembly::printSignature<2>(printer, logits, labels, loss, count);
  }
}

mlir::ParseResult parseLossTypes(mlir::OpAsmParser &parser, const MaybeOperand &given, mlir::Type &max, mlir::Type &sum,
                                 mlir::Type &picked, mlir::Type &labels, mlir::Type &weights, mlir::Type &loss,
                                 mlir::Type &count) {
  return given ? assembly::parseSignature<5>(parser, max, sum, picked, labels, weights, loss, count)
               : assembly::parseSignature<4>(parser, max, sum, picked, labels, loss, count);
}

void printLossTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Value given, mlir::Type max, mlir::Type sum,
                    mlir::Type picked, mlir::Type labels, mlir::Type weights, mlir::Type loss, mlir::Type count) {
  if (given) {
    assembly::printSignature<5>(printer, max, sum, picked, labels, weights, loss, count);
  } else {
    assembly::printSignature<4>(printer, max, sum, picked, labels, loss, count);
  }
}

mlir::ParseResult parseLossGradTypes(mlir::OpAsmParser &parser, const MaybeOperand &given, mlir::Type &dloss,
                                     mlir::Type &logits, mlir::Type &max, mlir::Type &sum, mlir::Type &labels,
                                     mlir::Type &weights, mlir::Type &result) {
  return given ? assembly::parseSignature<6>(parser, dloss, logits, max, sum, labels, weights, result)
               : assembly::parseSignature<5>(parser, dloss, logits, max, sum, labels, result);
}

void printLossGradTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Value given, mlir::Type dloss,
                        mlir::Type logits, mlir::Type max, mlir::Type sum, mlir::Type labels, mlir::Type weights,
                        mlir::Type result) {
  if (given) {
    assembly::printSignature<6>(printer, dloss, logits, max, sum, labels, weights, result);
  } else {
    assembly::printSignature<5>(printer, dloss, logits, max, sum, labels, result);
  }
}

} // namespace
} // namespace weft::ir

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

// Weights, if there are any, are a number a row.
LogicalResult requireWeights(mlir::Operation *op, Value weights, ArrayRef<int64_t> rows) {
  return weights ? requireRowStatistic(op, "weights", weights, rows) : mlir::success();
}

LogicalResult requireSmoothing(mlir::Operation *op, mlir::Attribute smoothing) {
  if (smoothing && !(floatOf(smoothing) >= 0 && floatOf(smoothing) <= 1)) {
    return op->emitOpError() << "label_smoothing: expected a number from 0 to 1, got " << floatOf(smoothing);
  }
  return mlir::success();
}

// Whether a gradient would flow from `value` to a parameter.
bool dependsOnParameter(Value value, llvm::SmallPtrSetImpl<mlir::Operation *> &seen) {
  mlir::Operation *op = value.getDefiningOp();
  if (!op || !llvm::isa<mlir::FloatType>(tensorOf(value).getElementType()) || llvm::isa<StopGradientOp>(op) ||
      !seen.insert(op).second) {
    return false;
  }
  if (auto parameter = llvm::dyn_cast<ParameterOp>(op)) {
    return !parameter.getState();
  }
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnParameter(operand, seen); });
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
  if (failed(requireLogits(*this, getLogits(), rows)) || failed(requireLabels(*this, getLabels(), rows)) ||
      failed(requireWeights(*this, getWeights(), rows)) || failed(requireSmoothing(*this, getLabelSmoothingAttr()))) {
    return mlir::failure();
  }
  results.append(2, f32Tensor(getContext(), {}));
  return mlir::success();
}

// What can be split is what it decomposes into.
ShardingRule CrossEntropyOp::getShardingRule() {
  SmallVector<ArrayRef<int64_t>> operands;
  for (Value operand : getOperands()) {
    operands.push_back(shapeOf(operand));
  }
  return ShardingRule::replicated(operands, {shapeOf(getLoss()), shapeOf(getCount())});
}

LogicalResult CrossEntropyOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  // Labels are integers, and the count does not depend on the logits.
  out.assign(getNumOperands(), Value());
  if (llvm::SmallPtrSet<mlir::Operation *, 16> seen; getWeights() && dependsOnParameter(getWeights(), seen)) {
    return emitOpError() << "weights: expected numbers that depend on no parameter, as nothing flows back to them; "
                            "weft.stop_gradient makes such";
  }
  if (g[0]) {
    // Beside the forward op, where CSE merges them with those that it decomposes into.
    mlir::OpBuilder::InsertPoint backward = b.saveInsertionPoint();
    b.setInsertionPoint(*this);
    auto [max, sum] = rowStatistics(b, getLoc(), getLogits());
    b.restoreInsertionPoint(backward);
    out[0] = create<CrossEntropyGradOp>(b, getLoc(), g[0], getLogits(), max, sum, getLabels(), getWeights(),
                                        getIgnoreIndexAttr(), getLabelSmoothingAttr());
  }
  return mlir::success();
}

LogicalResult CrossEntropyOp::decompose(mlir::RewriterBase &b) {
  auto [max, sum] = rowStatistics(b, getLoc(), getLogits());
  Value picked = create<PickOp>(b, getLoc(), getLogits(), getLabels(), getIgnoreIndexAttr());
  if (getLabelSmoothingAttr() && floatOf(getLabelSmoothingAttr()) != 0) {
    double smoothing = floatOf(getLabelSmoothingAttr());
    auto scaled = [&](Value value, double factor) {
      return create<ScaleOp>(b, getLoc(), value, b.getF64FloatAttr(factor));
    };
    RankedTensorType logits = tensorOf(getLogits());
    Value mean = reduce(b, getLoc(), getLogits(), "mean", {logits.getRank() - 1}, /*keepDims=*/false,
                        /*toF32=*/!logits.getElementType().isF32());
    picked = create<AddOp>(b, getLoc(), scaled(picked, 1 - smoothing), scaled(mean, smoothing));
  }
  auto loss =
      create<CrossEntropyLossOp, 2>(b, getLoc(), max, sum, picked, getLabels(), getWeights(), getIgnoreIndexAttr());
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
      failed(requireRowStatistic(*this, "picked", getPicked(), rows)) ||
      failed(requireWeights(*this, getWeights(), rows))) {
    return mlir::failure();
  }
  results.append(2, f32Tensor(getContext(), {}));
  return mlir::success();
}

ShardingRule CrossEntropyLossOp::getShardingRule() {
  return ruleOf(*this, getWeights() ? ".,.,.,.,.->," : ".,.,.,.->,").withNeutral(3, double(int64_t(getIgnoreIndex())));
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
      failed(requireRowStatistic(*this, "sum", getSum(), rows)) || failed(requireLabels(*this, getLabels(), rows)) ||
      failed(requireWeights(*this, getWeights(), rows)) || failed(requireSmoothing(*this, getLabelSmoothingAttr()))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getLogits()), {}));
  return mlir::success();
}

ShardingRule CrossEntropyGradOp::getShardingRule() {
  return ruleOf(*this, getWeights() ? ",.v,.,.,.,.->.v" : ",.v,.,.,.->.v").withLinear({{0}});
}

void CrossEntropyGradOp::getKernelAttributes(mlir::NamedAttrList &attributes) {
  attributes = inherentAttributes(*this);
  if (mlir::Attribute smoothing = getLabelSmoothingAttr()) {
    attributes.set("label_smoothing", mlir::FloatAttr::get(mlir::Float64Type::get(getContext()), floatOf(smoothing)));
  }
}

// A difference, an exponential, a division, the label and the factor, a logit.
Cost CrossEntropyGradOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = 5.0 * double(operands[1].getNumElements());
  return cost;
}

} // namespace weft::ir
