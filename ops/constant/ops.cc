// Shapes and sharding rules of constants.
#include "ops/constant/ops.h"

#include "llvm/ADT/bit.h"
#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/constant/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;

// `shape` of the type that `given` says, or of `otherwise`.
LogicalResult inferShape(mlir::Operation *op, mlir::ArrayAttr extents, std::optional<mlir::Type> given,
                         mlir::Type otherwise, Types &results) {
  SmallVector<int64_t> shape = intsOf(extents);
  if (failed(countElements(op, "shape", shape))) {
    return mlir::failure();
  }
  results.push_back(RankedTensorType::get(shape, given.value_or(otherwise)));
  return mlir::success();
}

LogicalResult requireElement(mlir::Operation *op, mlir::Type type) {
  if (type.isF32() || type.isBF16() || type.isF16() || type.isInteger(32) || type.isInteger(64) || type.isInteger(8)) {
    return mlir::success();
  }
  return op->emitOpError() << "element type: expected f32, bf16, f16, i32, i64 or i8, got " << type;
}

// Every rank makes its own tile.
ShardingRule tileRule(Value result) { return ShardingRule::pointwise({}, shapeOf(result)); }

} // namespace

LogicalResult FillOp::inferTypes(Types &results) {
  mlir::Type type = getResultType().value_or(mlir::Float32Type::get(getContext()));
  if (failed(requireElement(*this, type)) || failed(requireNumberOf(*this, "value", getValue(), type))) {
    return mlir::failure();
  }
  return inferShape(*this, getShape(), type, type, results);
}

ShardingRule FillOp::getShardingRule() { return tileRule(getResult()); }

LogicalResult IotaOp::inferTypes(Types &results) {
  SmallVector<int64_t> shape = intsOf(getShape());
  int64_t dim = intOf(getDim());
  mlir::Type type = getResultType().value_or(mlir::IntegerType::get(getContext(), 32));
  if (!type.isInteger(32) && !type.isInteger(64) && !type.isF32()) {
    return emitOpError() << "element type: expected i32, i64 or f32, got " << type;
  }
  if (failed(requireIndex(*this, "dim", dim, int64_t(shape.size())))) {
    return mlir::failure();
  }
  const int64_t most = type.isF32() ? int64_t(1) << 24 : type.isInteger(32) ? int64_t(1) << 31 : INT64_MAX;
  if (shape[dim] > most) {
    return emitOpError() << "shape: expected at most " << most << " along dimension " << dim << " of " << type
                         << ", got " << shape[dim];
  }
  return inferShape(*this, getShape(), type, type, results);
}

ShardingRule IotaOp::getShardingRule() { return tileRule(getResult()); }

LogicalResult ConstantOp::inferTypes(Types &results) {
  mlir::Type type = getResultType().value_or(mlir::Float32Type::get(getContext()));
  if (failed(requireElement(*this, type))) {
    return mlir::failure();
  }
  llvm::FailureOr<int64_t> elements = countElements(*this, "shape", intsOf(getShape()));
  if (failed(elements)) {
    return mlir::failure();
  }
  if (*elements != int64_t(getValues().size())) {
    return emitOpError() << "values: expected " << *elements << ", one an element, got " << getValues().size();
  }
  for (mlir::Attribute value : getValues()) {
    if (failed(requireNumberOf(*this, "values", value, type))) {
      return mlir::failure();
    }
  }
  return inferShape(*this, getShape(), type, type, results);
}

ShardingRule ConstantOp::getShardingRule() { return tileRule(getResult()); }

// A plan has lists of integers alone: numbers of a floating-point type are the bits of doubles.
void ConstantOp::getKernelAttributes(mlir::NamedAttrList &attributes) {
  bool isFloat = llvm::isa<mlir::FloatType>(tensorOf(getResult()).getElementType());
  auto word = [&](mlir::Attribute value) { return isFloat ? llvm::bit_cast<int64_t>(floatOf(value)) : intOf(value); };
  attributes.set("values", mlir::DenseI64ArrayAttr::get(getContext(), llvm::map_to_vector(getValues(), word)));
}

// Without operands there is nothing that a gradient could flow to.
LogicalResult FillOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &) {
  return mlir::success();
}

LogicalResult IotaOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &) {
  return mlir::success();
}

LogicalResult ConstantOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &) {
  return mlir::success();
}

} // namespace weft::ir
