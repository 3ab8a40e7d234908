// Shapes, sharding rules, gradients and costs of sorting.
#include "ops/sort/ops.h"

#include <cmath>

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/gather/ops.h"
#include "ops/layout/ops.h"

#define GET_OP_CLASSES
#include "ops/sort/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;

// Values and ids, of a line's extent or of `k`.
LogicalResult inferSorted(mlir::Operation *op, int64_t dim, std::optional<int64_t> k, Types &results) {
  RankedTensorType input = withSbp(tensorOf(op->getOperand(0)), {});
  mlir::Type element = input.getElementType();
  if (!llvm::isa<mlir::FloatType>(element) && !element.isInteger(32)) {
    return op->emitOpError() << "expected a floating-point element type or i32, got " << element;
  }
  if (failed(requireIndex(op, "dim", dim, input.getRank()))) {
    return mlir::failure();
  }
  SmallVector<int64_t> shape(input.getShape());
  if (shape[dim] > INT32_MAX) {
    return op->emitOpError() << "expected at most " << INT32_MAX << " elements along dimension " << dim << ", got "
                             << shape[dim];
  }
  if (k && (*k < 1 || *k > shape[dim])) {
    return op->emitOpError() << "k: expected 1 to " << shape[dim] << ", got " << *k;
  }
  shape[dim] = k.value_or(shape[dim]);
  results.push_back(RankedTensorType::get(shape, element));
  results.push_back(RankedTensorType::get(shape, mlir::IntegerType::get(op->getContext(), 32)));
  return mlir::success();
}

// Every dimension but `dim` may be split; that of the results is another one than that of the operand.
ShardingRule lineRule(mlir::Operation *op, int64_t dim) {
  ArrayRef<int64_t> input = shapeOf(op->getOperand(0));
  ShardingRule rule = ShardingRule::pointwise({input}, input, 2);
  rule.factors[dim].whole = true;
  for (ShardingRule::Tensor &result : rule.results) {
    result[dim] = {int(rule.factors.size())};
  }
  rule.factors.push_back({shapeOf(op->getResult(0))[dim], /*whole=*/true});
  return rule;
}

// Each value's gradient goes to where the value stood. A scatter has one list of ids for all that lies behind its
// dimension, hence `dim` goes last meanwhile.
LogicalResult buildLineGradient(mlir::Operation *op, int64_t dim, RewriterBase &b, Value g,
                                SmallVectorImpl<Value> &out) {
  if (!g) {
    out.push_back({});
    return mlir::success();
  }
  mlir::Location loc = op->getLoc();
  int64_t last = int64_t(shapeOf(g).size()) - 1;
  SmallVector<int64_t> order;
  for (int64_t d = 0; d <= last; ++d) {
    order.push_back(d);
  }
  std::swap(order[dim], order[last]); // its own inverse
  auto turn = [&](Value value) {
    return dim == last ? value : create<TransposeOp>(b, loc, value, b.getI64ArrayAttr(order)).getResult();
  };
  Value placed = create<ScatterAddOp>(b, loc, turn(g), turn(op->getResult(1)), b.getI64IntegerAttr(last),
                                      b.getI64IntegerAttr(shapeOf(op->getOperand(0))[dim]), b.getI64IntegerAttr(last));
  out.push_back(turn(placed));
  return mlir::success();
}

// Comparisons: log2(n) an element.
Cost sortCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results, int64_t dim) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = double(operands[0].getNumElements()) * std::log2(std::max<double>(2, operands[0].getDimSize(dim)));
  return cost;
}

} // namespace

LogicalResult SortOp::inferTypes(Types &results) { return inferSorted(*this, intOf(getDim()), std::nullopt, results); }

ShardingRule SortOp::getShardingRule() { return lineRule(*this, intOf(getDim())); }

LogicalResult SortOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  return buildLineGradient(*this, intOf(getDim()), b, g[0], out);
}

Cost SortOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  return sortCost(operands, results, intOf(getDim()));
}

LogicalResult TopKOp::inferTypes(Types &results) { return inferSorted(*this, intOf(getDim()), intOf(getK()), results); }

ShardingRule TopKOp::getShardingRule() { return lineRule(*this, intOf(getDim())); }

LogicalResult TopKOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  return buildLineGradient(*this, intOf(getDim()), b, g[0], out);
}

Cost TopKOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  return sortCost(operands, results, intOf(getDim()));
}

} // namespace weft::ir
