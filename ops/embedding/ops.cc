// Shapes, sharding rules, gradient and cost of embeddings.
#include "ops/embedding/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/elementwise/ops.h"

#define GET_OP_CLASSES
#include "ops/embedding/ops.cpp.inc"

namespace weft::ir {

namespace {

LogicalResult requireIds(mlir::Operation *op, Value ids) {
  mlir::Type type = tensorOf(ids).getElementType();
  if (!type.isInteger(32)) {
    return op->emitOpError() << "ids: expected the element type i32, got " << type;
  }
  return mlir::success();
}

} // namespace

LogicalResult EmbeddingOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireIds(*this, getIds()))) {
    return mlir::failure();
  }
  RankedTensorType table = withSbp(tensorOf(getTable()), {});
  if (table.getRank() != 2 || !llvm::isa<mlir::FloatType>(table.getElementType())) {
    return emitOpError() << "table: expected two dimensions and a floating-point element type, got " << table;
  }
  SmallVector<int64_t> shape(shapeOf(getIds()));
  shape.push_back(table.getDimSize(1));
  results.push_back(RankedTensorType::get(shape, table.getElementType()));
  return mlir::success();
}

ShardingRule EmbeddingOp::getShardingRule() {
  return ShardingRule::parse(".,vh->.h", {shapeOf(getIds()), shapeOf(getTable())}, {shapeOf(getResult())})
      .withLinear({{1}});
}

LogicalResult EmbeddingOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back({}); // ids are integers
  Value dtable = create<EmbeddingGradOp>(b, getLoc(), getIds(), g[0], b.getI64IntegerAttr(shapeOf(getTable())[0]));
  mlir::Type element = tensorOf(getTable()).getElementType();
  out.push_back(element.isF32() ? dtable : create<CastOp>(b, getLoc(), dtable, element).getResult());
  return mlir::success();
}

// Only the rows that are chosen are read.
Cost EmbeddingOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost;
  cost.bytes = double(bytesOf(operands[0])) + 2 * double(bytesOf(results[0]));
  return cost;
}

LogicalResult EmbeddingGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireIds(*this, getIds()))) {
    return mlir::failure();
  }
  ArrayRef<int64_t> ids = shapeOf(getIds());
  RankedTensorType dout = withSbp(tensorOf(getDout()), {});
  if (dout.getRank() != int64_t(ids.size()) + 1 || dout.getShape().drop_back() != ids) {
    return emitOpError() << "dout: expected the shape of the ids and one dimension more, got " << dout << " for "
                         << withSbp(tensorOf(getIds()), {});
  }
  if (failed(requireFloat(*this, getDout()))) {
    return mlir::failure();
  }
  if (int64_t(getVocab()) <= 0) {
    return emitOpError() << "vocab: expected a positive number, got " << int64_t(getVocab());
  }
  results.push_back(
      RankedTensorType::get({int64_t(getVocab()), dout.getShape().back()}, mlir::Float32Type::get(getContext())));
  return mlir::success();
}

ShardingRule EmbeddingGradOp::getShardingRule() {
  return ShardingRule::parse(".,.h->vh", {shapeOf(getIds()), shapeOf(getDout())}, {shapeOf(getResult())})
      .withLinear({{1}});
}

// Ids are checked against the rows that there are, without padding.
void EmbeddingGradOp::getKernelAttributes(mlir::NamedAttrList &attributes) {
  attributes = inherentAttributes(*this);
  attributes.set("vocab", mlir::Builder(getContext()).getI64IntegerAttr(unpaddedShapeOf(getResult())[0]));
}

// The table is cleared; every row of `dout` is read, and one of the table read and written.
Cost EmbeddingGradOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost;
  cost.flops = double(operands[1].getNumElements());
  cost.bytes = double(bytesOf(operands[0])) + 3 * double(bytesOf(operands[1])) + double(bytesOf(results[0]));
  return cost;
}

} // namespace weft::ir
