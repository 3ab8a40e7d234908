// The loops of a generated kernel: its domain with as few dimensions as its tensors allow.
#ifndef WEFT_COMPILER_CODEGEN_LOOPS_H_
#define WEFT_COMPILER_CODEGEN_LOOPS_H_

#include <optional>

#include "ops/cell/cell.h"

namespace weft::compiler {

/// Rows of places; what is reduced is reduced along one.
struct Loops {
  /// Of the dimensions around the row, the outermost first; strides by operand.
  struct Dim {
    int64_t extent;
    llvm::SmallVector<int64_t> strides;
  };
  llvm::SmallVector<Dim> outer;
  Dim row;
  bool reduces;

  int64_t rows() const;
  /// Whether it is one row that may be cut anywhere.
  bool isFlat() const { return outer.empty() && !reduces; }
  /// Pieces that threads share: rows, or of a row that is cut anywhere groups of kLanes places.
  int64_t units() const;
};

/// Places that are computed at once.
inline constexpr int64_t kLanes = 16;

/// The loops of a kernel. Nothing if its row is none in some tensor: no piece of memory, and not one element either.
std::optional<Loops> loopsOf(cell::KernelOp kernel);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_LOOPS_H_
