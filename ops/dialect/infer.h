// What the shape inference and the rules of many ops have in common.
#ifndef WEFT_OPS_DIALECT_INFER_H_
#define WEFT_OPS_DIALECT_INFER_H_

#include "ops/dialect/weft.h"

namespace weft::ir {

/// Emits an error on `op` unless the element type of `value` is floating point.
llvm::LogicalResult requireFloat(mlir::Operation *op, mlir::Value value);

/// Emits an error on `op` unless the element type of `value` is one that ops compute with: floating point, i32 or i64.
llvm::LogicalResult requireNumber(mlir::Operation *op, mlir::Value value);

/// The element type of truth values: i8, in which 0 is false and anything else is true; ops write 1.
mlir::Type booleanType(mlir::MLIRContext *context);

/// Emits an error on `op` unless `value` has truth values.
llvm::LogicalResult requireBoolean(mlir::Operation *op, llvm::StringRef what, mlir::Value value);

/// Emits an error on `op` unless both have one element type.
llvm::LogicalResult requireOneElementType(mlir::Operation *op, mlir::Value a, mlir::Value b);

/// Appends the shape that the operands of `op` broadcast to, aligned at the last dimension; an error if there is none.
llvm::LogicalResult inferBroadcast(mlir::Operation *op, llvm::SmallVectorImpl<int64_t> &shape);

/// Emits an error on `op` unless `value` has a last dimension.
llvm::LogicalResult requireRows(mlir::Operation *op, mlir::Value value);

/// Emits an error on `op` unless `value`, named `what`, has exactly this type (its SBP aside).
llvm::LogicalResult requireType(mlir::Operation *op, llvm::StringRef what, mlir::Value value,
                                mlir::RankedTensorType expected);

/// Emits an error on `op` unless 0 <= `value` < `end`; `what` names the attribute it comes from.
llvm::LogicalResult requireIndex(mlir::Operation *op, llvm::StringRef what, int64_t value, int64_t end);

/// The number of elements of a shape, which errors call `what`; an error on `op`, or by `error`, unless extents are
/// positive and their product is one that a plan can hold.
llvm::FailureOr<int64_t> countElements(mlir::Operation *op, llvm::StringRef what, llvm::ArrayRef<int64_t> shape);
llvm::FailureOr<int64_t> countElements(llvm::function_ref<mlir::InFlightDiagnostic()> error, llvm::StringRef what,
                                       llvm::ArrayRef<int64_t> shape);

/// Emits an error on `op` unless `number`, of the attribute `what`, is one of `element`: any of a floating-point type,
/// of an integer type an integer that it holds. i8 holds 0 to 255.
llvm::LogicalResult requireNumberOf(mlir::Operation *op, llvm::StringRef what, mlir::Attribute number,
                                    mlir::Type element);

/// The shape that two shapes broadcast to, aligned at the last dimension, or failure.
llvm::LogicalResult broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b,
                                    llvm::SmallVectorImpl<int64_t> &shape);

/// The one result has the type of operand 0, which must be floating point.
llvm::LogicalResult inferLikeOperand(mlir::Operation *op, llvm::SmallVectorImpl<mlir::RankedTensorType> &results);

/// Every dimension of result 0 may be split; operands are broadcast to it.
ShardingRule pointwiseRule(mlir::Operation *op);

/// ShardingRule::parse with the shapes of the operands and results of `op`.
ShardingRule ruleOf(mlir::Operation *op, llvm::StringRef text);

} // namespace weft::ir

#endif // WEFT_OPS_DIALECT_INFER_H_
