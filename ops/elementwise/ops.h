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

} // namespace weft::ir

#endif // WEFT_OPS_ELEMENTWISE_OPS_H_
