// What has to lie in a rank's arena, and which parts of it never live at one time.
#ifndef WEFT_COMPILER_MEMORY_BLOCKS_H_
#define WEFT_COMPILER_MEMORY_BLOCKS_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/program.h"
#include "runtime/semantics/orders.h"

namespace weft::compiler {

// From one moment of the compute stream to another, both included. The step's w-th work there is moment 2w + 1; even
// moments are the gaps between: what another stream does after the first work and before the second spans [2, 2].
struct Span {
  int64_t first = 0, last = 0;
};

// Bytes that need one place: slots of a buffer that follow each other.
struct Block {
  int32_t root = 0;
  int64_t bytes = 0;
  // When they hold something that is needed; ascending, apart. Nobody touches it: always.
  std::vector<Span> life;
  // What the compute stream alone touches, and one unit leaves to another: the units that use it first and last,
  // counted over the step; else -1. Blocks with the same two are a frame: a forward's activations for its backward,
  // say.
  int32_t unit = -1, until = -1;
  bool state = false;  // it is kept from step to step
};

// The blocks of a stage and which of them may share bytes. Memory: a bit for each pair.
class Blocks {
 public:
  // Of a program whose acts `orders` has recorded. `slots`: a root each, how many it gets; `together`: likewise, how
  // many that follow each other have one place: all, one, or as many as micro-batches overlap. Divisors. Both must
  // outlive the call alone.
  Blocks(const plan::Program& program, const plan::Orders& orders, const std::vector<int32_t>& slots,
         const std::vector<int32_t>& together);

  // Blocks instead of groups of them: with the bytes of all, whenever one lives. `group`: a block each, the place of
  // its group among so many `groups`; -1: left out.
  Blocks(const Blocks& blocks, const std::vector<int32_t>& group, int32_t groups);

  int32_t size() const { return static_cast<int32_t>(blocks_.size()); }
  const Block& operator[](int32_t b) const { return blocks_[b]; }
  // In the order of the roots; of one root those of slot 0 first.
  absl::Span<const Block> all() const { return blocks_; }
  // Moments of the step, and those in which a block lives.
  int64_t moments() const { return moments_; }
  int64_t LengthOf(int32_t b) const;
  // True if the block lives all the time.
  bool IsAlways(int32_t b) const;
  // Two blocks may not share bytes.
  bool Conflict(int32_t a, int32_t b) const { return RowOf(a)[b / 64] >> (b % 64) & 1; }
  // A bit each block: those that the block may not share bytes with.
  const uint64_t* RowOf(int32_t b) const { return &rows_[b * words_]; }
  // Calls `visit` with each of them, ascending.
  template <typename Visit>
  void ForEachInTheWay(int32_t b, Visit visit) const {
    for (size_t w = 0; w < words_; ++w) {
      for (uint64_t bits = RowOf(b)[w]; bits != 0; bits &= bits - 1) {
        visit(static_cast<int32_t>(w * 64 + std::countr_zero(bits)));
      }
    }
  }

 private:
  void AddConflicts();
  void Allow(int32_t a, int32_t b);

  std::vector<Block> blocks_;
  int64_t moments_ = 0;  // of the step
  size_t words_ = 0;     // of a row
  std::vector<uint64_t> rows_;
};

// Micro-batches that are under way together.
int64_t OverlapOf(const plan::Program& program);

// True for the roots that hold something of one micro-batch at a time: these may have several slots.
std::vector<bool> AreOfMicroBatch(const plan::Program& program);

// True for the roots that nobody waits for although they have no more than `slots` (a root each): what fills a slot
// comes late enough anyway, or its writer waits for another root that is read later. So more slots for them change
// nothing of the order of acts. `orders` has recorded the program with as many slots as any root will ever get.
std::vector<bool> NeverWaited(const plan::Program& program, const plan::Orders& orders,
                              const std::vector<int32_t>& slots);

}  // namespace weft::compiler

#endif  // WEFT_COMPILER_MEMORY_BLOCKS_H_
