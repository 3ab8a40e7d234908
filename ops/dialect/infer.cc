#include "ops/dialect/infer.h"

#include <algorithm>

#include "llvm/Support/MathExtras.h"

namespace weft::ir {

LogicalResult requireFloat(mlir::Operation *op, mlir::Value value) {
  mlir::Type element = tensorOf(value).getElementType();
  if (!llvm::isa<mlir::FloatType>(element)) {
    return op->emitOpError() << "expected a floating-point element type, got " << element;
  }
  return mlir::success();
}

LogicalResult requireNumber(mlir::Operation *op, mlir::Value value) {
  mlir::Type element = tensorOf(value).getElementType();
  if (!llvm::isa<mlir::FloatType>(element) && !element.isInteger(32) && !element.isInteger(64)) {
    return op->emitOpError() << "expected a floating-point element type, i32 or i64, got " << element;
  }
  return mlir::success();
}

mlir::Type booleanType(mlir::MLIRContext *context) { return mlir::IntegerType::get(context, 8); }

LogicalResult requireBoolean(mlir::Operation *op, llvm::StringRef what, mlir::Value value) {
  mlir::Type element = tensorOf(value).getElementType();
  if (element != booleanType(op->getContext())) {
    return op->emitOpError() << what << ": expected truth values, of the element type i8, got " << element;
  }
  return mlir::success();
}

LogicalResult requireOneElementType(mlir::Operation *op, mlir::Value a, mlir::Value b) {
  mlir::Type first = tensorOf(a).getElementType(), second = tensorOf(b).getElementType();
  if (first != second) {
    return op->emitOpError() << "expected one element type, got " << first << " and " << second;
  }
  return mlir::success();
}

LogicalResult broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b,
                              llvm::SmallVectorImpl<int64_t> &shape) {
  size_t rank = std::max(a.size(), b.size());
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    int64_t y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x != y && x != 1 && y != 1) {
      return mlir::failure();
    }
    shape.push_back(std::max(x, y));
  }
  return mlir::success();
}

LogicalResult inferBroadcast(mlir::Operation *op, llvm::SmallVectorImpl<int64_t> &shape) {
  llvm::SmallVector<int64_t> common;
  for (mlir::Value operand : op->getOperands()) {
    llvm::SmallVector<int64_t> both;
    if (failed(broadcastShapes(common, shapeOf(operand), both))) {
      mlir::InFlightDiagnostic error = op->emitOpError() << "expected shapes that broadcast, got ";
      for (auto [i, value] : llvm::enumerate(op->getOperands())) {
        error << (i == 0 ? "" : i + 1 == op->getNumOperands() ? " and " : ", ") << withSbp(tensorOf(value), {});
      }
      return error;
    }
    common = both;
  }
  shape.append(common);
  return mlir::success();
}

LogicalResult requireNumberOf(mlir::Operation *op, llvm::StringRef what, mlir::Attribute number, mlir::Type element) {
  if (llvm::isa<mlir::FloatType>(element)) {
    return mlir::success();
  }
  auto integer = llvm::dyn_cast<mlir::IntegerAttr>(number);
  if (!integer) {
    return op->emitOpError() << what << ": expected an integer, as the element type is " << element << ", got "
                             << number;
  }
  const unsigned bits = element.getIntOrFloatBitWidth();
  const int64_t low = bits == 8 ? 0 : llvm::minIntN(bits), high = bits == 8 ? 255 : llvm::maxIntN(bits);
  if (integer.getInt() < low || integer.getInt() > high) {
    return op->emitOpError() << what << ": expected " << low << " to " << high << ", got " << integer.getInt();
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
