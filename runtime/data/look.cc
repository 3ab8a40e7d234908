#include "runtime/data/look.h"

#include <algorithm>
#include <cstring>

#include "ops/abi/philox.h"

namespace weft::data {
namespace {

// A look at parts is one at blocks of this size.
constexpr int64_t kBlock = int64_t{1} << 20;
constexpr int64_t kWord = 8;

}  // namespace

std::vector<std::pair<int64_t, int64_t>> PartsOf(int64_t bytes, int64_t limit) {
  if (bytes <= std::max(limit, 2 * kBlock)) return {{0, bytes}};
  const int64_t count = std::max<int64_t>(limit / kBlock, 2), last = bytes - kBlock;
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = last / (count - 1) * i / kWord * kWord;
    parts.emplace_back(begin, i + 1 < count ? begin + kBlock : bytes);
  }
  return parts;
}

// A sum over the words, each mixed with its place.
uint64_t HashOf(const uint8_t* data, int64_t bytes, const std::vector<std::pair<int64_t, int64_t>>& parts) {
  uint64_t hash = MixSeed(bytes, 1);  // no word is at 1
  for (const auto& [begin, end] : parts) {
    for (int64_t at = begin; at < end; at += kWord) {
      uint64_t word = 0;
      std::memcpy(&word, data + at, std::min(kWord, end - at));
      hash += MixSeed(word, static_cast<uint64_t>(at));
    }
  }
  return hash;
}

}  // namespace weft::data
