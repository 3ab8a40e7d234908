#include "runtime/data/permutation.h"

#include <algorithm>
#include <bit>

#include "ops/abi/philox.h"

namespace weft::data {
namespace {

// Four rounds suffice for large domains; the small ones need more.
constexpr uint64_t kRounds = 10;

// Keeps the order of the data apart from the other random numbers of a run,
// whose ops have seeds of their own.
constexpr uint64_t kOrderSeed = 0x6461746120726F77ull;

}  // namespace

Permutation::Permutation(int64_t count, uint64_t seed)
    : count_(count),
      key_(MixSeed(seed, kOrderSeed)),
      half_bits_(std::max<int>(1, (std::bit_width(static_cast<uint64_t>(count - 1)) + 1) / 2)) {}

uint64_t Permutation::Shuffle(uint64_t epoch, uint64_t value) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = value >> half_bits_, right = value & mask;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const uint64_t next = left ^ (Philox(key_, round << 32 | right, epoch)[0] & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

int64_t Permutation::At(int64_t epoch, int64_t index) const {
  uint64_t value = static_cast<uint64_t>(index);
  do {
    value = Shuffle(static_cast<uint64_t>(epoch), value);
  } while (value >= count_);
  return static_cast<int64_t>(value);
}

}  // namespace weft::data
