// The loops of a generated kernel: its domain with as few dimensions as its tensors allow.
#ifndef WEFT_COMPILER_CODEGEN_LOOPS_H_
#define WEFT_COMPILER_CODEGEN_LOOPS_H_

#include <optional>

#include "ops/cell/cell.h"

namespace weft::compiler {

/// Places that are computed at once.
inline constexpr int64_t kLanes = 16;

/// Rows of places; what is reduced is reduced along one. Of a `batch` kernel the row is of any length.
struct Loops {
  /// Of the dimensions around the row, the outermost first; strides by operand.
  struct Dim {
    int64_t extent;
    llvm::SmallVector<int64_t> strides;
  };
  llvm::SmallVector<Dim> outer;
  Dim row;
  bool reduces;
  size_t sums;    // `cell.sum_rows`s
  size_t randoms; // `cell.random`s, whose strides in their whole tensors follow those of the operands

  int64_t rows() const;
  /// Whether it is one row that may be cut anywhere.
  bool isFlat() const { return outer.empty() && !reduces && sums == 0 && randoms == 0; }
  /// Pieces that threads share: rows, blocks of rows where rows are summed, or of a row that is cut anywhere groups of
  /// kLanes places.
  int64_t units() const;
  /// Numbers that a unit leaves of its rows' sums: for each of them a row, in whole groups.
  int64_t partials() const { return int64_t(sums) * groups() * kLanes; }
  /// Groups of kLanes places in a row.
  int64_t groups() const { return (row.extent + kLanes - 1) / kLanes; }
};

/// Places of which numbers may be kept on a thread's stack, a row's: 64 KiB each, which the second-level cache holds.
inline constexpr int64_t kKeptRow = 16 * 1024;

/// The loops of a kernel. Nothing if its row is none in some tensor: no piece of memory, and not one element either.
std::optional<Loops> loopsOf(cell::KernelOp kernel);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_LOOPS_H_
