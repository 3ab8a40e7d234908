// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011, section 3.3). A number is a pure
// function of (seed, stream, counter), so it does not depend on the layout. GPU
// kernels use these functions too, which nvcc allows of constexpr ones.
#ifndef WEFT_OPS_ABI_PHILOX_H_
#define WEFT_OPS_ABI_PHILOX_H_

#include <array>
#include <cstdint>

namespace weft {

using PhiloxBlock = std::array<uint32_t, 4>;

// The four 32-bit words of block `counter` (128 bits: low, high) under `key`.
constexpr PhiloxBlock Philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  uint32_t c0 = static_cast<uint32_t>(counter_low), c1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t c2 = static_cast<uint32_t>(counter_high), c3 = static_cast<uint32_t>(counter_high >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * c0;
    const uint64_t p1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

// Mixes a run's seed with an op's own seed into a key (splitmix64's finaliser).
constexpr uint64_t MixSeed(uint64_t seed, uint64_t op_seed) {
  uint64_t z = seed + 0x9E3779B97F4A7C15ull * (op_seed + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Uniform in [0, 1) with 24 random bits.
constexpr float UniformFloat(uint32_t word) { return static_cast<float>(word >> 8) * 0x1.0p-24f; }

// The word for one element of a tensor: element e lies in block e / 4, word
// e % 4. `event` separates the draws of one op: the step, 0 for initial values.
constexpr uint32_t PhiloxElement(uint64_t key, uint64_t event, uint64_t element) {
  return Philox(key, element / 4, event)[element % 4];
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_PHILOX_H_
