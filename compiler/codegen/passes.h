// What a generated kernel computes when: in passes over a row.
#ifndef WEFT_COMPILER_CODEGEN_PASSES_H_
#define WEFT_COMPILER_CODEGEN_PASSES_H_

#include "compiler/codegen/loops.h"
#include "llvm/ADT/SetVector.h"

namespace weft::compiler {

/// The passes over a row that a kernel takes: one for each reduction that waits for another, and a last one that
/// writes.
class Passes {
public:
  Passes(cell::KernelOp kernel, const Loops &loops);

  /// Before the one that writes.
  int count() const { return count_; }
  /// Whether all places of a row share a value.
  bool isOfRow(mlir::Value value) const { return facts_.lookup(value).ofRow; }
  /// Whether an operand has one number a row.
  bool isOfRow(unsigned operand) const { return loops_.row.strides[operand] == 0; }
  /// What a pass is for: the operands of its reductions, and in the last one what is written or summed over rows.
  llvm::SmallVector<mlir::Value> rootsOf(int pass) const;
  llvm::SmallVector<cell::ReduceOp> reducesOf(int pass) const;
  /// What a pass computes at each place, for its roots.
  llvm::SetVector<mlir::Operation *> neededIn(int pass) const;

private:
  // A value that all places of a row share; and after how many passes over the row it is known.
  struct Fact {
    bool ofRow;
    int depth;
  };

  void addNeeded(mlir::Value value, llvm::SetVector<mlir::Operation *> &needed) const;

  mutable cell::KernelOp kernel_;
  const Loops &loops_;
  llvm::DenseMap<mlir::Value, Fact> facts_;
  int count_ = 0;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_PASSES_H_
