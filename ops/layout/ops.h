// Ops of the `weft` dialect that move elements and compute nothing.
#ifndef WEFT_OPS_LAYOUT_OPS_H_
#define WEFT_OPS_LAYOUT_OPS_H_

#include "ops/dialect/weft.h"

#define GET_OP_CLASSES
#include "ops/layout/ops.h.inc"

namespace weft::ir {

/// `input` in this shape, which has as many elements; `input` itself if it has the shape.
mlir::Value reshape(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, llvm::ArrayRef<int64_t> shape);

/// An attribute of ops, and of their kernels, that do a part of the rows of a loss: the part's number
/// (--weft-box-chunks).
inline constexpr llvm::StringLiteral kOfChunkName("of_chunk");

/// The rows that a rank of `placement` has of a tensor: the product of the first `dims` extents of its tile.
int64_t rowsOfTile(mlir::RankedTensorType type, int64_t dims, PlacementAttr placement);

/// The type of `size` of each rank's rows: see `weft.take_rows`.
mlir::RankedTensorType typeOfRows(mlir::RankedTensorType type, int64_t dims, int64_t size, PlacementAttr placement);

} // namespace weft::ir

#endif // WEFT_OPS_LAYOUT_OPS_H_
