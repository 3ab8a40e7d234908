// Shape, sharding rule and cost of set_padding.
#include "ops/padding/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/padding/ops.cpp.inc"

namespace weft::ir {

LogicalResult SetPaddingOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = withSbp(tensorOf(getInput()), {});
  SmallVector<int64_t> extents = intsOf(getExtents());
  if (int64_t(extents.size()) != input.getRank()) {
    return emitOpError() << "extents: expected " << input.getRank() << ", one a dimension, got " << extents.size();
  }
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (extent < 1 || extent > input.getDimSize(dim)) {
      return emitOpError() << "extents: expected 1 to " << input.getDimSize(dim) << " for dimension " << dim << ", got "
                           << extent;
    }
  }
  mlir::Type type = input.getElementType();
  if (!type.isF32() && !type.isBF16() && !type.isF16() && !type.isInteger(32) && !type.isInteger(64) &&
      !type.isInteger(8)) {
    return emitOpError() << "element type: expected f32, bf16, f16, i32, i64 or i8, got " << type;
  }
  if (failed(requireNumberOf(*this, "value", getValue(), type))) {
    return mlir::failure();
  }
  if (getBatch() && *getBatch() < 1) {
    return emitOpError() << "batch: expected a positive number, got " << *getBatch();
  }
  if (getBatch() && failed(requireIndex(*this, "along", getAlong().value_or(0), input.getRank()))) {
    return mlir::failure();
  }
  results.push_back(input);
  return mlir::success();
}

// Zeros beyond the extents of every addend are zeros beyond those of the sum.
ShardingRule SetPaddingOp::getShardingRule() {
  ShardingRule rule = pointwiseRule(*this);
  if (floatOf(getValue()) == 0) {
    rule.linear = {{0}};
  }
  return rule;
}

// Over its operand, the kernel writes what lies beyond the extents alone.
Cost SetPaddingOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType>) {
  double inside = 1;
  for (auto [extent, padded] : llvm::zip(intsOf(getExtents()), shapeOf(getInput()))) {
    inside *= double(extent) / double(padded);
  }
  Cost cost;
  cost.bytes = (1 - inside) * double(bytesOf(operands[0]));
  return cost;
}

} // namespace weft::ir
