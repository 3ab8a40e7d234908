// Shapes, sharding rules, gradients and costs of grouped products.
//
// Rows are grouped within what lies outside of `n`: of a mixture of experts, within a sequence. `n` is whole, as a part
// of the rows would not say which groups they are of. So the batch is split like any other dimension, and results do
// not depend on how it is cut; kernels put the rows of one group together.
#include "ops/einsum/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/elementwise/ops.h"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;

// Two tensors that are multiplied, and the number of groups that the result, or the matrices, have.
LogicalResult requireGrouped(mlir::Operation *op, Value rows, Value other, Value counts, int64_t groups) {
  RankedTensorType type = withSbp(tensorOf(rows), {}), count = withSbp(tensorOf(counts), {});
  if (failed(requireFloat(op, rows)) || failed(requireOneElementType(op, rows, other))) {
    return mlir::failure();
  }
  if (type.getRank() < 2) {
    return op->emitOpError() << "expected rows of two or more dimensions, got " << type;
  }
  if (!count.getElementType().isInteger(32) || count.getRank() != type.getRank() - 1 ||
      count.getShape().drop_back() != type.getShape().drop_back(2)) {
    return op->emitOpError() << "counts: expected i32, the dimensions of " << type
                             << " but the last two and one for the groups, got " << count;
  }
  if (count.getShape().back() > groups) {
    return op->emitOpError() << "counts: expected at most " << groups << " groups, got " << count.getShape().back();
  }
  return mlir::success();
}

LogicalResult inferElement(mlir::Operation *op, Value rows, std::optional<mlir::Type> to, ArrayRef<int64_t> shape,
                           Types &results) {
  if (to && !to->isF32()) {
    return op->emitOpError() << "result type: expected 'f32', got " << *to;
  }
  results.push_back(RankedTensorType::get(shape, to.value_or(tensorOf(rows).getElementType())));
  return mlir::success();
}

// `groups`: those of the rank, which has its share of the rows of all.
Cost groupedCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results, int64_t groups, int64_t k,
                 int64_t m) {
  Cost cost = elementwiseCost(operands, results);
  int64_t all = operands[2].getShape().back();
  double share = std::min(1.0, double(groups) / double(all));
  double rows = double(operands[0].getNumElements()) / double(operands[0].getShape().back());
  cost.flops = 2 * rows * share * double(k) * double(m);
  cost.contraction = true;
  return cost;
}

// In the mean, and at least one.
int64_t rowsOfGroup(const Cost &cost, int64_t groups, int64_t k, int64_t m) {
  return std::max<int64_t>(1, int64_t(cost.flops / (2.0 * double(groups) * double(k) * double(m))));
}

} // namespace

LogicalResult GroupedMatmulOp::inferTypes(Types &results) {
  RankedTensorType rows = withSbp(tensorOf(getRows()), {}), matrices = withSbp(tensorOf(getMatrices()), {});
  if (matrices.getRank() != 3) {
    return emitOpError() << "matrices: expected three dimensions, got " << matrices;
  }
  if (failed(requireGrouped(*this, getRows(), getMatrices(), getCounts(), matrices.getDimSize(0)))) {
    return mlir::failure();
  }
  int64_t k = matrices.getDimSize(getTransposed() ? 2 : 1), m = matrices.getDimSize(getTransposed() ? 1 : 2);
  if (rows.getShape().back() != k) {
    return emitOpError() << "rows: expected " << k << " columns as " << matrices << " takes, got " << rows;
  }
  SmallVector<int64_t> shape(rows.getShape());
  shape.back() = m;
  return inferElement(*this, getRows(), getResultType(), shape, results);
}

ShardingRule GroupedMatmulOp::getShardingRule() {
  return ruleOf(*this, getTransposed() ? ".Nk,emk,.G->.Nm" : ".Nk,ekm,.G->.Nm").withLinear({{0}, {1}});
}

Cost GroupedMatmulOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  int64_t k = operands[0].getShape().back(), m = results[0].getShape().back(), e = operands[1].getDimSize(0);
  Cost cost = groupedCost(operands, results, e, k, m);
  cost.product = {e, rowsOfGroup(cost, e, k, m), m, k};
  return cost;
}

LogicalResult GroupedMatmulOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  mlir::Type element = tensorOf(getRows()).getElementType();
  Value dy = g[0];
  if (tensorOf(dy).getElementType() != element) {
    dy = create<CastOp>(b, getLoc(), dy, element);
  }
  mlir::UnitAttr turned = getTransposed() ? mlir::UnitAttr() : b.getUnitAttr();
  out.push_back(create<GroupedMatmulOp>(b, getLoc(), dy, getMatrices(), getCounts(), turned, mlir::TypeAttr()));
  Value lhs = getTransposed() ? dy : getRows(), rhs = getTransposed() ? getRows() : dy;
  out.push_back(create<GroupedOuterOp>(b, getLoc(), lhs, rhs, getCounts(),
                                       b.getI64IntegerAttr(shapeOf(getMatrices())[0]), mlir::TypeAttr()));
  out.push_back({}); // counts are integers
  return mlir::success();
}

LogicalResult GroupedOuterOp::inferTypes(Types &results) {
  RankedTensorType lhs = withSbp(tensorOf(getLhs()), {}), rhs = withSbp(tensorOf(getRhs()), {});
  if (failed(requireGrouped(*this, getLhs(), getRhs(), getCounts(), intOf(getGroups())))) {
    return mlir::failure();
  }
  if (rhs.getRank() != lhs.getRank() || rhs.getShape().drop_back() != lhs.getShape().drop_back()) {
    return emitOpError() << "rhs: expected the rows of " << lhs << ", got " << rhs;
  }
  return inferElement(*this, getLhs(), getResultType(),
                      {intOf(getGroups()), lhs.getShape().back(), rhs.getShape().back()}, results);
}

ShardingRule GroupedOuterOp::getShardingRule() { return ruleOf(*this, ".Nk,.Nm,.G->ekm").withLinear({{0}, {1}}); }

Cost GroupedOuterOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  int64_t e = results[0].getDimSize(0), k = results[0].getDimSize(1), m = results[0].getDimSize(2);
  Cost cost = groupedCost(operands, results, e, k, m);
  cost.product = {e, k, m, rowsOfGroup(cost, e, k, m)};
  return cost;
}

void GroupedOuterOp::setResultShape(ArrayRef<int64_t> shape) {
  setGroupsAttr(mlir::Builder(getContext()).getI64IntegerAttr(shape[0]));
}

LogicalResult GroupedOuterOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  mlir::Type element = tensorOf(getLhs()).getElementType();
  Value dy = g[0];
  if (tensorOf(dy).getElementType() != element) {
    dy = create<CastOp>(b, getLoc(), dy, element);
  }
  out.push_back(create<GroupedMatmulOp>(b, getLoc(), getRhs(), dy, getCounts(), b.getUnitAttr(), mlir::TypeAttr()));
  out.push_back(create<GroupedMatmulOp>(b, getLoc(), getLhs(), dy, getCounts(), mlir::UnitAttr(), mlir::TypeAttr()));
  out.push_back({}); // counts are integers
  return mlir::success();
}

} // namespace weft::ir
