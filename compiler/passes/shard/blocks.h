// The blocks of a graph, for exact.h: its layers, and what is in front of, between and behind them.
#ifndef WEFT_COMPILER_PASSES_SHARD_BLOCKS_H_
#define WEFT_COMPILER_PASSES_SHARD_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// In the order of the forward.
struct Blocks {
  std::vector<int> of;         // of each op its block
  std::vector<int64_t> copies; // of each block how many there are in a row: 1, but for a layer that stands for others
};

/// Forward and backward of a layer, and the updates of its parameters, are one block. `ops` are in program order. A
/// layer that stands for others is the middle one of those that `elaborate` has left of a repeat
/// (compiler/analysis/repeats.h).
Blocks blocksOf(ir::GraphOp graph, const std::vector<mlir::Operation *> &ops);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_BLOCKS_H_
