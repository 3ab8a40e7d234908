// Shapes, sharding rules, gradients and costs of taking rows by their numbers and putting them back.
#include "ops/gather/ops.h"

#include "ops/constant/ops.h"
#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/gather/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;

int64_t batchOf(std::optional<mlir::Attribute> batch) { return batch ? intOf(*batch) : 0; }

LogicalResult requireIds(mlir::Operation *op, Value ids, int64_t dim, int64_t batch) {
  mlir::Type type = tensorOf(ids).getElementType();
  if (!type.isInteger(32) && !type.isInteger(64)) {
    return op->emitOpError() << "ids: expected the element type i32 or i64, got " << type;
  }
  return requireIndex(op, "batch", batch, std::min<int64_t>(dim, shapeOf(ids).size()) + 1);
}

LogicalResult requireSameBatch(mlir::Operation *op, RankedTensorType values, Value ids, int64_t batch) {
  if (values.getShape().take_front(batch) != shapeOf(ids).take_front(batch)) {
    return op->emitOpError() << "ids: expected the first " << batch << " extents of " << values << ", got "
                             << withSbp(tensorOf(ids), {});
  }
  return mlir::success();
}

// The rows of `table` that `ids` name.
llvm::FailureOr<RankedTensorType> inferRows(mlir::Operation *op, Value table, Value ids, int64_t dim, int64_t batch) {
  RankedTensorType type = withSbp(tensorOf(table), {});
  if (failed(requireNumber(op, table)) || failed(requireIndex(op, "dim", dim, type.getRank())) ||
      failed(requireIds(op, ids, dim, batch)) || failed(requireSameBatch(op, type, ids, batch))) {
    return mlir::failure();
  }
  SmallVector<int64_t> shape(type.getShape().take_front(dim));
  llvm::append_range(shape, shapeOf(ids).drop_front(batch));
  llvm::append_range(shape, type.getShape().drop_front(dim + 1));
  return RankedTensorType::get(shape, type.getElementType());
}

// The named dimensions of an op: of a table [batch..., outer..., rows, inner...], of ids [batch..., positions...] and
// of the rows that they name, [batch..., outer..., positions..., inner...].
struct RowDims {
  ShardingRule rule;
  ShardingRule::Tensor table, ids, rows;
};

RowDims rowDims(ArrayRef<int64_t> table, ArrayRef<int64_t> ids, int64_t dim, int64_t batch, bool wholePositions) {
  RowDims dims;
  auto add = [&](ArrayRef<int64_t> extents, llvm::ArrayRef<ShardingRule::Tensor *> tensors, bool whole = false) {
    for (int64_t extent : extents) {
      for (ShardingRule::Tensor *tensor : tensors) {
        tensor->push_back({int(dims.rule.factors.size())});
      }
      dims.rule.factors.push_back({extent, whole});
    }
  };
  add(table.take_front(batch), {&dims.table, &dims.ids, &dims.rows});
  add(table.slice(batch, dim - batch), {&dims.table, &dims.rows});
  add(table.slice(dim, 1), {&dims.table});
  add(ids.drop_front(batch), {&dims.ids, &dims.rows}, wholePositions);
  add(table.drop_front(dim + 1), {&dims.table, &dims.rows});
  return dims;
}

Value zerosLike(RewriterBase &b, mlir::Location loc, Value like) {
  RankedTensorType type = tensorOf(like);
  return create<FillOp>(b, loc, b.getI64ArrayAttr(type.getShape()), b.getF64FloatAttr(0),
                        mlir::TypeAttr::get(type.getElementType()));
}

} // namespace

LogicalResult TakeOp::inferTypes(Types &results) {
  llvm::FailureOr<RankedTensorType> rows = inferRows(*this, getInput(), getIds(), intOf(getDim()), batchOf(getBatch()));
  if (failed(rows)) {
    return mlir::failure();
  }
  results.push_back(*rows);
  return mlir::success();
}

ShardingRule TakeOp::getShardingRule() {
  RowDims dims = rowDims(shapeOf(getInput()), shapeOf(getIds()), intOf(getDim()), batchOf(getBatch()),
                         /*wholePositions=*/getLast());
  dims.rule.operands = {dims.table, dims.ids};
  dims.rule.results = {dims.rows};
  dims.rule.linear = {{0}};
  return dims.rule;
}

LogicalResult TakeOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  if (getLast()) {
    out.push_back(create<ScatterSetOp>(b, getLoc(), zerosLike(b, getLoc(), getInput()), getIds(), g[0], getDim(),
                                       getBatchAttr()));
  } else {
    mlir::Attribute size = b.getI64IntegerAttr(shapeOf(getInput())[intOf(getDim())]);
    out.push_back(create<ScatterAddOp>(b, getLoc(), g[0], getIds(), getDim(), size, getBatchAttr()));
  }
  out.push_back({}); // ids are integers
  return mlir::success();
}

// Only the rows that are chosen are read.
Cost TakeOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost;
  cost.bytes = double(bytesOf(operands[1])) + 2 * double(bytesOf(results[0]));
  return cost;
}

LogicalResult ScatterAddOp::inferTypes(Types &results) {
  RankedTensorType updates = withSbp(tensorOf(getUpdates()), {});
  int64_t dim = intOf(getDim()), batch = batchOf(getBatch()), size = intOf(getSize());
  if (failed(requireNumber(*this, getUpdates())) || failed(requireIndex(*this, "dim", dim, updates.getRank() + 1)) ||
      failed(requireIds(*this, getIds(), dim, batch)) || failed(requireSameBatch(*this, updates, getIds(), batch))) {
    return mlir::failure();
  }
  ArrayRef<int64_t> positions = shapeOf(getIds()).drop_front(batch), behind = updates.getShape().drop_front(dim);
  if (behind.size() < positions.size() || behind.take_front(positions.size()) != positions) {
    return emitOpError() << "updates: expected the extents of the ids from dimension " << dim << " on, got " << updates
                         << " for " << withSbp(tensorOf(getIds()), {});
  }
  if (size <= 0) {
    return emitOpError() << "size: expected a positive number, got " << size;
  }
  SmallVector<int64_t> shape(updates.getShape().take_front(dim));
  shape.push_back(size);
  llvm::append_range(shape, behind.drop_front(positions.size()));
  results.push_back(RankedTensorType::get(shape, updates.getElementType()));
  return mlir::success();
}

ShardingRule ScatterAddOp::getShardingRule() {
  RowDims dims = rowDims(shapeOf(getResult()), shapeOf(getIds()), intOf(getDim()), batchOf(getBatch()),
                         /*wholePositions=*/false);
  dims.rule.operands = {dims.rows, dims.ids};
  dims.rule.results = {dims.table};
  dims.rule.linear = {{0}};
  return dims.rule;
}

LogicalResult ScatterAddOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<TakeOp>(b, getLoc(), g[0], getIds(), getDim(), getBatchAttr(), mlir::UnitAttr()));
  out.push_back({}); // ids are integers
  return mlir::success();
}

void ScatterAddOp::setResultShape(ArrayRef<int64_t> shape) {
  setSizeAttr(mlir::Builder(getContext()).getI64IntegerAttr(shape[intOf(getDim())]));
}

// Ids are checked against the rows that there are, without padding.
void ScatterAddOp::getKernelAttributes(mlir::NamedAttrList &attributes) {
  attributes = inherentAttributes(*this);
  attributes.set("size", mlir::Builder(getContext()).getI64IntegerAttr(unpaddedShapeOf(getResult())[intOf(getDim())]));
}

// The result is cleared; every row of the updates is read, and one of the result read and written.
Cost ScatterAddOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost;
  cost.flops = double(operands[0].getNumElements());
  cost.bytes = double(bytesOf(operands[1])) + 3 * double(bytesOf(operands[0])) + double(bytesOf(results[0]));
  return cost;
}

LogicalResult ScatterSetOp::inferTypes(Types &results) {
  llvm::FailureOr<RankedTensorType> rows = inferRows(*this, getInput(), getIds(), intOf(getDim()), batchOf(getBatch()));
  if (failed(rows) || failed(requireType(*this, "updates", getUpdates(), *rows))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getInput()), {}));
  return mlir::success();
}

ShardingRule ScatterSetOp::getShardingRule() {
  RowDims dims = rowDims(shapeOf(getInput()), shapeOf(getIds()), intOf(getDim()), batchOf(getBatch()),
                         /*wholePositions=*/true);
  dims.rule.operands = {dims.table, dims.ids, dims.rows};
  dims.rule.results = {dims.table};
  dims.rule.linear = {{0, 2}};
  return dims.rule;
}

LogicalResult ScatterSetOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value zeros = zerosLike(b, getLoc(), getUpdates());
  out.push_back(create<ScatterSetOp>(b, getLoc(), g[0], getIds(), zeros, getDim(), getBatchAttr()));
  out.push_back({}); // ids are integers
  out.push_back(create<TakeOp>(b, getLoc(), g[0], getIds(), getDim(), getBatchAttr(), b.getUnitAttr()));
  return mlir::success();
}

} // namespace weft::ir
