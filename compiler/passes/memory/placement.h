// Offsets for blocks of bytes that live at known times.
#ifndef WEFT_COMPILER_PASSES_MEMORY_PLACEMENT_H_
#define WEFT_COMPILER_PASSES_MEMORY_PLACEMENT_H_

#include <cstdint>
#include <vector>

#include "compiler/passes/memory/liveness.h"

namespace weft::compiler {

struct Block {
  int64_t bytes = 0;
  Life life;                           // not empty
  Moment start;                        // the first time it lives
  bool kept = false;                   // from one unit to another
  llvm::SmallVector<int32_t, 0> apart; // ascending: other blocks that may share its bytes, although their lives meet
  int64_t offset = 0;
};

/// The most bytes of blocks that may not share bytes at one of the positions 0 to `positions` - 1: no offsets need
/// less.
int64_t mostLive(llvm::ArrayRef<Block> blocks, int64_t positions);

/// How long to search for a better placement: not at all, or at most a tenth of a second or a few on one core.
enum class Effort { kNone, kSome, kMuch };

/// Gives the blocks offsets such that those that live at one time lie apart, and returns the bytes that they need. What
/// lives always lies at the bottom. The others are placed one after another, each at the lowest offset where it fits,
/// in several orders of which the best is kept: by falling size (Pisarchyk and Lee, "Efficient memory management for
/// deep neural net inference", 2020), by falling length of life and by falling product of both, which stacks what a
/// forward keeps for its backward; what is kept in the order of time, so that a micro-batch takes over the places of
/// one that has ended as they are, then the rest. Then the best order is improved: what lies too high goes first; and
/// by search (search.h), until the arena is little larger than what is live. The order depends on the blocks alone.
int64_t place(std::vector<Block> &blocks, int64_t positions, Effort effort);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_PLACEMENT_H_
