// Offsets for blocks of bytes that live at known times.
#ifndef WEFT_COMPILER_PASSES_MEMORY_PLACEMENT_H_
#define WEFT_COMPILER_PASSES_MEMORY_PLACEMENT_H_

#include <cstdint>
#include <memory>
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
/// less. Of all blocks, or of some. A part of it where many of those that are live there are apart from others.
int64_t mostLive(llvm::ArrayRef<Block> blocks, int64_t positions);
int64_t mostLive(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members, int64_t positions);

class Conflicts;

/// Offsets for blocks such that those that live at one time lie apart. What lives always lies at the bottom. The others
/// are placed one after another, each at the lowest offset where it fits, in several orders of which the best is kept.
/// The offsets depend on the blocks and on what is asked for alone. Owns the blocks. One thread.
class Placement {
public:
  Placement(std::vector<Block> blocks, int64_t positions);
  Placement(Placement &&);
  Placement &operator=(Placement &&);
  ~Placement();

  /// About what the blocks need, by the known orders alone and without the smallest: to choose between sets of blocks.
  int64_t sketch() const;

  /// Tries known orders first: by falling size (Pisarchyk and Lee, "Efficient memory management for deep neural net
  /// inference", 2020), by falling length of life and by falling product of both, which stacks what a forward keeps for
  /// its backward; what is kept in the order of time, so that a micro-batch takes over the places of one that has ended
  /// as they are, then the rest. Then the best is improved: what lies too high goes first.
  void start();
  /// Searches for better orders (search.h), going on from what is known, until the arena is little larger than what is
  /// live. `work` counts pairs of blocks that are looked at: a core looks at some 600 million in a second.
  void search(int64_t work);

  /// The bytes that the offsets found so far need.
  int64_t arena() const { return arena_; }
  /// A block each.
  llvm::ArrayRef<int64_t> offsets() const { return offsets_; }
  /// The most bytes that are live.
  int64_t least() const { return least_; }

private:
  struct Trial;
  Trial trial(size_t size) const;
  static void offer(llvm::ArrayRef<int32_t> bySize, const Trial &coarse, Trial &fine);
  void keep(const Trial &trial);
  bool isEnough() const;

  std::vector<Block> blocks_;
  int64_t positions_ = 0, least_ = 0, bottom_ = 0, arena_ = INT64_MAX;
  std::vector<int32_t> bySize_; // but for what lives always
  std::vector<Trial> trials_;
  std::unique_ptr<Conflicts> conflicts_; // of bySize_, once asked for
  std::vector<int64_t> offsets_;
  uint32_t seed_ = 2000; // of the next search: where the zoo's hardest stages come out best, of a few
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_PLACEMENT_H_
