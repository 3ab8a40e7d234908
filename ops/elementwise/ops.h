// Element-wise ops of the `weft` dialect.
#ifndef WEFT_OPS_ELEMENTWISE_OPS_H_
#define WEFT_OPS_ELEMENTWISE_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/elementwise/ops.h.inc"

namespace weft::ir {

/// `gradient`, summed over the dimensions along which a tensor of `shape` was
/// broadcast to the gradient's shape.
mlir::Value reduceToShape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value gradient,
                          llvm::ArrayRef<int64_t> shape);

/// As many operands as one weft.add_n has: kernels take their addresses as arguments (kMaxTerms of cuda_arguments.h).
inline constexpr size_t kMostSummed = 64;

/// The sum of `values`, of which there is one or more, in their order: `made` is told of each weft.add_n, of which
/// there are several where one cannot take as many.
mlir::Value sumInOrder(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> values,
                       llvm::function_ref<void(mlir::Operation *)> made = {});

} // namespace weft::ir

#endif // WEFT_OPS_ELEMENTWISE_OPS_H_
