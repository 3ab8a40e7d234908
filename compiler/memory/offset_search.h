// Offsets for blocks: the search for few bytes.
#ifndef WEFT_COMPILER_MEMORY_OFFSET_SEARCH_H_
#define WEFT_COMPILER_MEMORY_OFFSET_SEARCH_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/memory/blocks.h"

namespace weft::compiler {

// A place for each block, such that those which conflict lie apart. What lives always lies at the bottom, state
// before all. Refers to the
// blocks. The same everywhere: chance comes from a seed, effort is counted and not timed. One thread.
//
//   Start()    first fit: block after block goes to the lowest offset where it fits, in known orders
//   Search()   what moves as a whole is placed first, as if it were one block: frames, and the large blocks.
//              The blocks follow in that order by first fit. Eviction (eviction.h) improves either.
class OffsetSearch {
 public:
  explicit OffsetSearch(const Blocks& blocks);

  // Tries orders: by size (Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020), by
  // size times length of life, and unit after unit. Keeps the best, and lets what ends highest go first. Ends with the
  // first that needs no more than `enough` bytes.
  void Start(int64_t enough);

  // Makes the arena smaller. Stops at `enough` bytes, or when `effort` is used up: looks at so many placed blocks, some
  // 300 million in a second of a core.
  void Search(int64_t enough, int64_t effort, uint32_t seed);

  // What the best placement needs, and a block each where it lies.
  int64_t arena() const { return arena_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  struct Place {
    int64_t begin = 0, end = 0;
  };
  struct Groups;

  // Places the movable blocks in an order, and returns the bytes of the arena; or so far as it has `most` bytes.
  int64_t PlaceAll(const std::vector<int32_t>& order, int64_t most = std::numeric_limits<int64_t>::max());
  int64_t PlaceOne(int32_t block);
  // Likewise all of them, and keeps what is best.
  void Try(const std::vector<int32_t>& order);
  void Keep(const std::vector<int32_t>& order, int64_t arena);
  void PromoteHighest(int64_t enough);
  Groups GroupsOf(int64_t part) const;
  void SearchGroups(const Groups& groups, int64_t enough, int64_t effort, uint32_t seed);
  void Evict(int64_t enough, int64_t effort, uint32_t seed);

  const Blocks& blocks_;
  int64_t bottom_ = 0, arena_ = std::numeric_limits<int64_t>::max();
  std::vector<int32_t> movable_;  // all but those that live always, the largest first
  std::vector<int32_t> best_;     // the best order of a first fit
  std::vector<int64_t> offsets_;
  std::vector<int32_t> placed_;  // by where they begin
  std::vector<Place> places_;    // a block each, if it is placed
};

}  // namespace weft::compiler

#endif  // WEFT_COMPILER_MEMORY_OFFSET_SEARCH_H_
