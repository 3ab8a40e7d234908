// Reductions of the `weft` dialect.
#ifndef WEFT_OPS_REDUCE_OPS_H_
#define WEFT_OPS_REDUCE_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/reduce/ops.h.inc"

namespace weft::ir {

/// Builds a `weft.reduce` of `kind` ("sum", "mean", "max"); with `toF32` its result is float32 whatever `input` is.
mlir::Value reduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::StringRef kind,
                   llvm::ArrayRef<int64_t> dims, bool keepDims, bool toF32 = false);

} // namespace weft::ir

#endif // WEFT_OPS_REDUCE_OPS_H_
