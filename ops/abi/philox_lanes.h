// Philox for many neighbouring elements at once, in a form that compilers
// vectorise. Same numbers as ops/abi/philox.h.
#ifndef WEFT_OPS_ABI_PHILOX_LANES_H_
#define WEFT_OPS_ABI_PHILOX_LANES_H_

#include <algorithm>
#include <cstdint>

#include "ops/abi/philox.h"

namespace weft {

inline constexpr int64_t kPhiloxLanes = 8;
inline constexpr int64_t kPhiloxBatch = 4 * kPhiloxLanes;  // words of a batch

// words[4 b + w] = Philox(key, first_block + b, event)[w], b < kPhiloxLanes.
inline void PhiloxLanes(uint64_t key, uint64_t event, uint64_t first_block, uint32_t* words) {
  // 32-bit values in 64-bit lanes: one widening multiplication gives the whole
  // product. The upper halves hold garbage, which the multiplications ignore.
  constexpr uint64_t kLow = 0xffffffffu;
  uint64_t c0[kPhiloxLanes], c1[kPhiloxLanes], c2[kPhiloxLanes], c3[kPhiloxLanes];
  for (int64_t l = 0; l < kPhiloxLanes; ++l) {
    c0[l] = first_block + static_cast<uint64_t>(l);
    c1[l] = c0[l] >> 32;
    c2[l] = event;
    c3[l] = event >> 32;
  }
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int64_t l = 0; l < kPhiloxLanes; ++l) {
      const uint64_t p0 = (c0[l] & kLow) * 0xD2511F53u;
      const uint64_t p1 = (c2[l] & kLow) * 0xCD9E8D57u;
      c0[l] = (p1 >> 32) ^ c1[l] ^ k0;
      c2[l] = (p0 >> 32) ^ c3[l] ^ k1;
      c1[l] = p1;
      c3[l] = p0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int64_t l = 0; l < kPhiloxLanes; ++l) {
    words[4 * l] = static_cast<uint32_t>(c0[l]);
    words[4 * l + 1] = static_cast<uint32_t>(c1[l]);
    words[4 * l + 2] = static_cast<uint32_t>(c2[l]);
    words[4 * l + 3] = static_cast<uint32_t>(c3[l]);
  }
}

// Calls body(offset, words, count) until [first, first + count) is covered:
// `words` are those of the elements first + offset, ...; `count` of a call is
// kPhiloxBatch but for the first and the last one, and every call but the
// first starts at a multiple of 4.
template <typename Body>
void ForPhiloxWords(uint64_t key, uint64_t event, uint64_t first, int64_t count, Body&& body) {
  alignas(64) uint32_t words[kPhiloxBatch];
  const int64_t skip = static_cast<int64_t>(first % 4);
  const uint64_t block = first / 4;
  for (int64_t at = -skip; at < count; at += kPhiloxBatch) {
    PhiloxLanes(key, event, block + static_cast<uint64_t>((at + skip) / 4), words);
    const int64_t begin = std::max<int64_t>(at, 0), end = std::min(at + kPhiloxBatch, count);
    body(begin, words + (begin - at), end - begin);
  }
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_PHILOX_LANES_H_
