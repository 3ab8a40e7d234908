// Offsets for blocks: the search for few bytes.
#ifndef WEFT_COMPILER_MEMORY_PLACEMENT_H_
#define WEFT_COMPILER_MEMORY_PLACEMENT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/memory/blocks.h"

namespace weft::compiler {

// A place for each block, such that those which conflict lie apart. First fit: block after block goes to the lowest
// offset where it fits, and the order decides how many bytes that needs. What lives always lies at the bottom. Refers
// to the blocks. The same everywhere: chance comes from a seed, effort is counted and not timed. One thread.
class Placement {
 public:
  explicit Placement(const Blocks& blocks);

  // Tries known orders: by size (Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020),
  // by size times length of life, and unit after unit. Keeps the best, and lets what ends highest go first.
  void Start();

  // Changes the best order step by step: of the blocks that end highest one goes further ahead, alone or with all that
  // its unit keeps. A change stays if the arena does not grow. Stops at `enough` bytes, or when `effort` is used up:
  // looks at so many placed blocks, some 300 million in a second of a core.
  void Search(int64_t enough, int64_t effort, uint32_t seed);

  // What the best order needs, and a block each where it lies.
  int64_t arena() const { return arena_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  struct Placed {
    int64_t begin = 0, end = 0;
    int32_t block = 0;
  };
  class Walk;

  // Places the blocks of an order, the first `same` of them as in the order that was placed last, and returns the bytes
  // of the arena. If these are more than `limit`: nothing, and what was placed last stays.
  std::optional<int64_t> Place(absl::Span<const int32_t> order, size_t same, int64_t limit);
  int64_t PlaceOne(int32_t block);
  void Try(std::vector<int32_t> order);
  void Repair();

  const Blocks& blocks_;
  int64_t bottom_ = 0, arena_ = std::numeric_limits<int64_t>::max(), effort_ = 0;
  std::vector<int32_t> movable_;  // all but those that live always, the largest first
  std::vector<int32_t> best_;
  std::vector<int64_t> offsets_;
  std::vector<Placed> placed_, next_;  // by where they begin
  std::vector<size_t> rank_;           // a block each: its place in the order that was placed last
};

}  // namespace weft::compiler

#endif  // WEFT_COMPILER_MEMORY_PLACEMENT_H_
