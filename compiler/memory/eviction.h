// Placed blocks, pushed below a line.
#ifndef WEFT_COMPILER_MEMORY_EVICTION_H_
#define WEFT_COMPILER_MEMORY_EVICTION_H_

#include <cstdint>
#include <random>
#include <vector>

#include "compiler/memory/blocks.h"

namespace weft::compiler {

// Each block lies somewhere or waits for a place. A block that waits goes where those in its way are cheapest, and
// these wait from then on. A block costs its bytes at first, and as much again each time that it has to go: so the
// search leaves what does not work (Rau, "Iterative modulo scheduling", 1994, places operations that way). Refers to
// the blocks. Chance comes from a seed, so the same happens everywhere. One thread.
class Eviction {
 public:
  // A block each: where it lies. What lives always stays, at the bottom.
  Eviction(const Blocks& blocks, std::vector<int64_t> offsets, uint32_t seed);

  // Until all blocks end at `top` or below; true then. False if `effort` is used up before. Takes from `effort` the
  // blocks that it looks at, by the count of OffsetSearch::Search.
  bool Fit(int64_t top, int64_t* effort);

  // After Fit() was true: a block each.
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  static constexpr int64_t kWaits = -1;
  struct Change {
    int64_t offset = 0, cost = 0;
  };

  void Place(int32_t block, int64_t offset);
  void Evict(int32_t block);
  int32_t TakeLargest();
  int64_t CheapestOffset(int32_t block, int64_t top);
  void FindMeeting(int32_t block, int64_t begin, int64_t end);
  void FindChanges(int32_t block, int64_t last);
  int64_t EndOf(int32_t block) const { return offsets_[block] + bytes_[block]; }
  // Few enough conflict with it that they are found one by one, and not by a look at all that lies somewhere.
  bool HasFew(int32_t block) const;

  const Blocks& blocks_;
  std::vector<int64_t> offsets_, costs_, bytes_;
  std::vector<int64_t> in_the_way_;         // a block each: how many conflict with it, without those that live always
  std::vector<int32_t> by_begin_, by_end_;  // what lies somewhere, without those that live always
  std::vector<int32_t> waiting_, met_;
  std::vector<bool> lies_;  // a block each: whether it is in these
  std::vector<Change> meets_, leaves_;
  int64_t bottom_ = 0;
  std::mt19937 random_;
};

}  // namespace weft::compiler

#endif  // WEFT_COMPILER_MEMORY_EVICTION_H_
