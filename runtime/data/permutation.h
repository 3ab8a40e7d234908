// A random permutation that is never stored.
#ifndef WEFT_RUNTIME_DATA_PERMUTATION_H_
#define WEFT_RUNTIME_DATA_PERMUTATION_H_

#include <cstdint>

namespace weft::data {

// For every epoch a permutation of [0, count): a pure function of (seed, epoch,
// index), in constant memory and constant expected time. A Feistel network
// (Luby and Rackoff, "How to construct pseudorandom permutations from
// pseudorandom functions", 1988) with Philox for its round function permutes
// the smallest even number of bits that holds `count`; what falls outside is
// permuted again until it falls inside (cycle walking: Black and Rogaway,
// "Ciphers with arbitrary finite domains", 2002), fewer than 4 times on average.
// Immutable: any thread may call.
class Permutation {
 public:
  // 1 <= count <= 2^62.
  Permutation(int64_t count, uint64_t seed);
  // Where `index` in [0, count) goes in this epoch; in [0, count).
  int64_t At(int64_t epoch, int64_t index) const;

 private:
  uint64_t Shuffle(uint64_t epoch, uint64_t value) const;

  uint64_t count_;
  uint64_t key_;
  int half_bits_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_PERMUTATION_H_
