// The `task` dialect in C++.
#ifndef WEFT_COMPILER_DIALECT_TASK_TASK_H_
#define WEFT_COMPILER_DIALECT_TASK_TASK_H_

#include "compiler/schedule/schedule.h"
#include "ops/dialect/weft.h"

#include "compiler/dialect/task/dialect.h.inc"
#include "compiler/dialect/task/enums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/task/types.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/task/ops.h.inc"

namespace weft::task {

/// The global tensor, with SBP, of which a buffer holds a tile.
inline mlir::RankedTensorType tensorOf(mlir::Value buffer) {
  return llvm::cast<BufferType>(buffer.getType()).getTensor();
}

/// The shape and bytes of one rank's tile on a mesh.
llvm::SmallVector<int64_t> localShapeOf(mlir::RankedTensorType tensor, ir::PlacementAttr placement);
int64_t localBytesOf(mlir::RankedTensorType tensor, ir::PlacementAttr placement);

/// The buffer whose bytes this is a view of: itself if it is no alias.
mlir::Value rootOf(mlir::Value buffer);

/// The units of a program in order.
std::vector<schedule::Unit> unitsOf(ProgramOp program);

} // namespace weft::task

#endif // WEFT_COMPILER_DIALECT_TASK_TASK_H_
