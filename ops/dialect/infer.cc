#include "ops/dialect/infer.h"

namespace weft::ir {

LogicalResult requireFloat(mlir::Operation *op, mlir::Value value) {
  mlir::Type element = tensorOf(value).getElementType();
  if (!llvm::isa<mlir::FloatType>(element)) {
    return op->emitOpError() << "expected a floating-point element type, got " << element;
  }
  return mlir::success();
}

LogicalResult requireRows(mlir::Operation *op, mlir::Value value) {
  if (tensorOf(value).getRank() == 0) {
    return op->emitOpError() << "expected one or more dimensions, got " << withSbp(tensorOf(value), {});
  }
  return mlir::success();
}

LogicalResult requireType(mlir::Operation *op, llvm::StringRef what, mlir::Value value, RankedTensorType expected) {
  RankedTensorType actual = withSbp(tensorOf(value), {});
  if (actual != withSbp(expected, {})) {
    return op->emitOpError() << what << ": expected " << withSbp(expected, {}) << ", got " << actual;
  }
  return mlir::success();
}

LogicalResult requireIndex(mlir::Operation *op, llvm::StringRef what, int64_t value, int64_t end) {
  if (value < 0 || value >= end) {
    return op->emitOpError() << what << ": expected 0 or more and less than " << end << ", got " << value;
  }
  return mlir::success();
}

// A plan's arena ends at 2^50 bytes.
constexpr int64_t kMostElements = int64_t(1) << 48;

llvm::FailureOr<int64_t> countElements(mlir::Operation *op, llvm::StringRef what, llvm::ArrayRef<int64_t> shape) {
  return countElements([&] { return op->emitOpError(); }, what, shape);
}

llvm::FailureOr<int64_t> countElements(llvm::function_ref<mlir::InFlightDiagnostic()> error, llvm::StringRef what,
                                       llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent <= 0) {
      return error() << what << ": expected positive extents, got " << extent;
    }
    if (extent > kMostElements / elements) {
      return error() << what << ": expected at most " << kMostElements << " elements, got more";
    }
    elements *= extent;
  }
  return elements;
}

LogicalResult inferLikeOperand(mlir::Operation *op, llvm::SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireFloat(op, op->getOperand(0)))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(op->getOperand(0)), {}));
  return mlir::success();
}

ShardingRule pointwiseRule(mlir::Operation *op) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>> shapes = llvm::map_to_vector(op->getOperands(), shapeOf);
  return ShardingRule::pointwise(shapes, shapeOf(op->getResult(0)));
}

ShardingRule ruleOf(mlir::Operation *op, llvm::StringRef text) {
  llvm::SmallVector<llvm::ArrayRef<int64_t>> operands = llvm::map_to_vector(op->getOperands(), shapeOf);
  llvm::SmallVector<llvm::ArrayRef<int64_t>> results = llvm::map_to_vector(op->getResults(), shapeOf);
  return ShardingRule::parse(text, operands, results);
}

} // namespace weft::ir
