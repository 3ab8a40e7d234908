// Which buffers pass between the actors of a program.
#ifndef WEFT_COMPILER_DIALECT_TASK_REGISTERS_H_
#define WEFT_COMPILER_DIALECT_TASK_REGISTERS_H_

#include "compiler/dialect/task/task.h"

namespace weft::task {

/// Whether a root buffer keeps its contents from step to step: parameters, state, and narrow copies of parameters with
/// an initial value.
bool isState(mlir::Value root);

/// What an op of an actor writes and reads.
mlir::ValueRange outputsOf(mlir::Operation *work);
mlir::ValueRange inputsOf(mlir::Operation *work);
/// Whether a use is one of what such an op writes.
bool isOutput(mlir::OpOperand &use);

/// The registers of a program as its plan has them: a buffer on bytes that several actors touch, parameters and state
/// aside, is a register of the actor that first writes it, read by those that see the value which that one made; so is
/// what an actor comes `after`. Holds no reference to the program; stale once buffers, aliases or actors change.
class Registers {
public:
  explicit Registers(ProgramOp program);

  /// Of the actor at this place among the program's.
  llvm::ArrayRef<mlir::Value> readsOf(size_t actor) const { return reads_[actor]; }
  llvm::ArrayRef<mlir::Value> writesOf(size_t actor) const { return writes_[actor]; }

private:
  using List = llvm::SmallVector<mlir::Value, 2>;
  mlir::Value valueOf(mlir::Value buffer) const;

  std::vector<List> reads_, writes_;
  llvm::DenseMap<mlir::Value, size_t> writer_; // the first actor that writes each buffer
};

} // namespace weft::task

#endif // WEFT_COMPILER_DIALECT_TASK_REGISTERS_H_
