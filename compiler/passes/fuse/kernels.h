// Questions about the kernels of a program that fusing asks, and how several become one.
#ifndef WEFT_COMPILER_PASSES_FUSE_KERNELS_H_
#define WEFT_COMPILER_PASSES_FUSE_KERNELS_H_

#include "compiler/dialect/task/task.h"
#include "llvm/ADT/SetVector.h"

namespace weft::compiler {

/// Whether a program runs on a CPU.
bool isOnHost(task::ProgramOp program);

/// The kernels of that name that run once a micro-batch, in order.
llvm::SmallVector<task::KernelOp> kernelsOf(task::ProgramOp program, llvm::StringRef name);

/// The kernel that writes a buffer, if that is its only writer; null else, and where the buffer is a view.
task::KernelOp writerOf(mlir::Value buffer);

/// Everything that uses a buffer, but its writers, in order; views and metrics count.
llvm::SmallVector<mlir::Operation *> readersOf(mlir::Value buffer);
bool isOnlyReader(mlir::Operation *reader, mlir::Value buffer);

/// What reads or writes a buffer or a view of it; metrics do not count.
llvm::SmallVector<mlir::Operation *> usersOf(mlir::Value buffer);

/// Whether both run in the same unit of every schedule: of one section, phase and chunk.
bool inSameUnit(task::KernelOp a, task::KernelOp b);

bool isPartial(mlir::Value buffer);
bool haveOneElementType(mlir::ValueRange buffers);
/// One rank's tile.
llvm::SmallVector<int64_t> shapeOf(task::ProgramOp program, mlir::Value buffer);

/// What several kernels become.
struct Fused {
  llvm::StringRef name;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  mlir::DictionaryAttr constants;
  llvm::SmallVector<int64_t> inPlace; // empty: nothing is written in place
  mlir::FlatSymbolRefAttr cell = {};  // of a generated kernel
  mlir::ArrayAttr randoms = {};
  mlir::IntegerAttr segments = {}; // of one for several tensors
};

/// Whether a collective of that section reads or writes a buffer.
bool isOfCollective(mlir::Value buffer, task::Section section);

/// Whether what a buffer has is there in the next step too.
bool isKept(mlir::Value buffer);

/// Whether an operation writes a buffer, by this view or another.
bool writes(mlir::Operation *op, mlir::Value buffer);

/// What writes a root, by itself or a view, also where it reads it too, each once.
llvm::SetVector<mlir::Operation *> writersOf(mlir::Value root);

/// Moves an op before `place`, of the same block. MLIR's moveBefore() and moveAfter() have the next question of order
/// number all ops of the block; this numbers `op` alone.
void moveTo(mlir::Operation *place, mlir::Operation *op);

/// Moves the declaration of a buffer, and of what it is a view of, before `place` where it is behind.
void declareBefore(mlir::Operation *place, mlir::Value buffer);

/// Erases a declaration that nothing uses, and views of it.
void eraseUnused(mlir::Value buffer);

/// Replaces `parts` by one kernel, which takes its place in the model from the first of them, and erases the buffers
/// that nothing uses any more. Its cost is that of the parts without what passed between them. Null, and
/// nothing changes, if there is no place behind all that it reads and before all that reads it.
task::KernelOp fuse(llvm::ArrayRef<task::KernelOp> parts, const Fused &fused);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_FUSE_KERNELS_H_
