// The `task` dialect in C++.
#ifndef WEFT_COMPILER_DIALECT_TASK_TASK_H_
#define WEFT_COMPILER_DIALECT_TASK_TASK_H_

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

/// What a schedule orders: the forward ('F'), the backward ('B') or its part for gradients of parameters ('W')
/// of one micro-batch, of the chunk-th chunk that a stage has.
struct Unit {
  char kind = 'F';
  int64_t microBatch = 0;
  int64_t chunk = 0;
  /// "F", "B.1": without the micro-batch, as actors name it.
  std::string name() const;
};

/// Reads "F3" or "F3.1"; nothing if the text is no unit.
std::optional<Unit> parseUnit(llvm::StringRef text);

/// The units of a program in order.
std::vector<Unit> unitsOf(ProgramOp program);

} // namespace weft::task

#endif // WEFT_COMPILER_DIALECT_TASK_TASK_H_
