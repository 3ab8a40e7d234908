// How a generated kernel is spread over a GPU: its rows, and packs of their places, over blocks of threads.
#ifndef WEFT_COMPILER_CODEGEN_BLOCKS_H_
#define WEFT_COMPILER_CODEGEN_BLOCKS_H_

#include "compiler/codegen/passes.h"

namespace weft::compiler {

/// Where something is summed, the numbers of rows and of their places alone decide it, so that sums have the same bits
/// on every GPU, and in every kernel that they are a part of.
struct Blocks {
  /// Neighbours in a row that a thread does at once: 16 bytes of the narrowest tensor, or where something is summed
  /// four.
  int64_t pack;
  /// Packs in a row.
  int64_t packs;
  /// Threads that share a row, or a tile of it: a power of two. 0: rows are nothing but places, and each pack has a
  /// thread.
  int64_t threads;
  /// Tiles of a row, each of which has a block; 1 where something is reduced along the row.
  int64_t tiles;
  /// Packs of a thread in its tile, or of a tensor of a `batch` kernel.
  int64_t turns;
  /// Whether a thread has code for each of its turns, and so its sums over rows in registers; and keeps there what it
  /// has read of a row, from pass to pass.
  bool unrolls, keeps;
  /// Rows, `rowsAtOnce` at a time, are shared by `rowBlocks` blocks.
  int64_t rowsAtOnce, rowBlocks;

  /// Places that a block of a `batch` kernel does.
  int64_t batchPlaces() const;
  /// Blocks of code::kGpuThreads threads.
  int64_t blocks(const Loops &loops) const;
  /// Numbers that a block leaves of its sums over rows.
  int64_t partials(const Loops &loops) const;
  /// Neighbours that are aligned as one, of an operand: at most a pack.
  int64_t alignedOf(unsigned operand, cell::KernelOp kernel, const Loops &loops) const;
  /// Of each sum over rows there are so many rows of partial sums.
  int64_t partialRows() const { return rowBlocks * rowsAtOnce; }
  /// Blocks of the second kernel, which adds up those of all blocks: kSumPlaces places of a row each.
  int64_t sumBlocks(const Loops &loops) const;
};

inline constexpr int64_t kSumPlaces = 32;

Blocks blocksOf(cell::KernelOp kernel, const Loops &loops);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_BLOCKS_H_
