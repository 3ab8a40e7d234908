// When the buffers of a scheduled program are accessed.
#ifndef WEFT_COMPILER_PASSES_MEMORY_LIVENESS_H_
#define WEFT_COMPILER_PASSES_MEMORY_LIVENESS_H_

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// Positions count the kernels, bundles of collectives and transfer ends of a
/// program in the order of its actors.
struct Life {
  int64_t first = -1; // position of the first access; -1: none
  int64_t last = -1;
  bool always = false; // lives through the whole step and beyond
};

class Liveness {
public:
  explicit Liveness(task::ProgramOp program);

  /// The life of a root buffer, aliases included.
  Life of(mlir::Value root) const;
  int64_t positions() const { return positions_; }
  int64_t positionOf(mlir::Operation *work) const { return index_.lookup(work); }

private:
  llvm::DenseMap<mlir::Value, Life> lives_;
  llvm::DenseMap<mlir::Operation *, int64_t> index_;
  int64_t positions_ = 0;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_LIVENESS_H_
