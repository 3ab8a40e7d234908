// Philox for many neighbouring elements at once, in vector registers. Same
// numbers as ops/abi/philox.h.
#ifndef WEFT_OPS_ABI_PHILOX_LANES_H_
#define WEFT_OPS_ABI_PHILOX_LANES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ops/abi/philox.h"

namespace weft {

inline constexpr int64_t kPhiloxLanes = 8;    // blocks at a time
inline constexpr int64_t kPhiloxBatch = 256;  // words at a time, at most

// words[4 b + w] = Philox(key, first_block + b, event)[w], b < kPhiloxLanes.
[[gnu::always_inline]] inline void PhiloxLanes(uint64_t key, uint64_t event, uint64_t first_block, uint32_t* words) {
  // 32-bit values in 64-bit lanes: one widening multiplication gives the whole
  // product. Upper halves hold garbage, which the masks before the
  // multiplications (free: the instruction looks at lower halves alone) drop.
  typedef uint64_t Lanes __attribute__((vector_size(32)));
  constexpr int kVectors = kPhiloxLanes / 4;
  constexpr uint64_t kLow = 0xffffffffu;
  Lanes c0[kVectors], c1[kVectors], c2[kVectors], c3[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    c0[v] = Lanes{0, 1, 2, 3} + (first_block + 4 * static_cast<uint64_t>(v));
    c1[v] = c0[v] >> 32;
    c2[v] = Lanes{} + event;
    c3[v] = c2[v] >> 32;
  }
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int v = 0; v < kVectors; ++v) {
      const Lanes p0 = (c0[v] & kLow) * uint64_t{0xD2511F53u};
      const Lanes p1 = (c2[v] & kLow) * uint64_t{0xCD9E8D57u};
      c0[v] = (p1 >> 32) ^ c1[v] ^ uint64_t { k0 };
      c2[v] = (p0 >> 32) ^ c3[v] ^ uint64_t { k1 };
      c1[v] = p1;
      c3[v] = p0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int v = 0; v < kVectors; ++v) {
    const Lanes first = (c0[v] & kLow) | (c1[v] << 32), second = (c2[v] & kLow) | (c3[v] << 32);
    const Lanes low = __builtin_shufflevector(first, second, 0, 4, 1, 5);
    const Lanes high = __builtin_shufflevector(first, second, 2, 6, 3, 7);
    std::memcpy(words + 16 * v, &low, sizeof(low));
    std::memcpy(words + 16 * v + 8, &high, sizeof(high));
  }
}

// Calls body(at, words, count) for batches of whole blocks that together cover
// the elements [first, first + n): `words` are those of the elements first +
// at, ..., first + at + count - 1. The first batch may begin before the range
// (at < 0) and the last one may end behind it; count is a multiple of 4.
template <typename Body>
[[gnu::always_inline]] inline void ForPhiloxBlocks(uint64_t key, uint64_t event, uint64_t first, int64_t n,
                                                   Body&& body) {
  alignas(64) uint32_t words[kPhiloxBatch];
  constexpr int64_t kStep = 4 * kPhiloxLanes;
  const uint64_t block = first / 4;
  const int64_t skip = static_cast<int64_t>(first % 4);
  for (int64_t at = -skip; at < n; at += kPhiloxBatch) {
    const int64_t count = std::min(kPhiloxBatch, (n - at + 3) / 4 * 4);
    for (int64_t w = 0; w < count; w += kStep) {
      PhiloxLanes(key, event, block + static_cast<uint64_t>((at + skip + w) / 4), words + w);
    }
    body(at, static_cast<const uint32_t*>(words), count);
  }
}

// The same, cut to the range: body(offset, words, count) with the words of the
// elements first + offset, ..., for 0 <= offset and offset + count <= n.
template <typename Body>
[[gnu::always_inline]] inline void ForPhiloxWords(uint64_t key, uint64_t event, uint64_t first, int64_t n,
                                                  Body&& body) {
  ForPhiloxBlocks(key, event, first, n, [&](int64_t at, const uint32_t* words, int64_t count) {
    const int64_t begin = std::max<int64_t>(at, 0), end = std::min(at + count, n);
    body(begin, words + (begin - at), end - begin);
  });
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_PHILOX_LANES_H_
