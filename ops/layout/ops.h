// Ops of the `weft` dialect that move elements and compute nothing.
#ifndef WEFT_OPS_LAYOUT_OPS_H_
#define WEFT_OPS_LAYOUT_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/layout/ops.h.inc"

namespace weft::ir {

/// `input` in this shape, which has as many elements; `input` itself if it has the shape.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> shape);

} // namespace weft::ir

#endif // WEFT_OPS_LAYOUT_OPS_H_
