#include "runtime/data/token_bytes.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

// Tokens are looked at in blocks of so many bytes.
constexpr int64_t kBlock = int64_t{1} << 20;

template <typename Token>
Token TokenAt(const uint8_t* from, int64_t i) {
  Token token;
  std::memcpy(&token, from + i * sizeof(Token), sizeof(Token));
  return token;
}

template <typename Token>
void Copy(const uint8_t* from, int64_t count, int32_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int32_t>(TokenAt<Token>(from, i));
}

template <typename Token>
uint32_t Largest(const uint8_t* from, int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, uint32_t{TokenAt<Token>(from, i)});
  return largest;
}

uint32_t LargestOf(int64_t width, const uint8_t* from, int64_t count) {
  return width == 4   ? Largest<uint32_t>(from, count)
         : width == 2 ? Largest<uint16_t>(from, count)
                      : Largest<uint8_t>(from, count);
}

}  // namespace

void CopyTokens(int64_t width, const uint8_t* from, int64_t count, int32_t* out) {
  width == 4   ? Copy<uint32_t>(from, count, out)
  : width == 2 ? Copy<uint16_t>(from, count, out)
               : Copy<uint8_t>(from, count, out);
}

TokenLook LookAtTokens(const std::string& path, int64_t width, const uint8_t* file, int64_t bytes, int64_t data,
                       int64_t limit) {
  TokenLook look;
  look.largest_in = path;
  const auto parts = PartsOf(bytes, limit);
  look.whole = parts.size() == 1;
  look.hash = HashOf(file, bytes, parts);
  for (const auto& [begin, end] : parts) {
    for (int64_t at = std::max(begin, data); at < end; at += kBlock) {
      const int64_t count = (std::min(at + kBlock, end) - at) / width;
      const uint32_t largest = LargestOf(width, file + at, count);
      if (largest <= look.largest) continue;
      look.largest = largest;
      look.largest_at = (at - data) / width;  // the block's first token
    }
  }
  const auto at = [&](int64_t position) { return LargestOf(width, file + data + position * width, 1); };
  for (const int64_t last = (bytes - data) / width - 1;
       look.largest_at < last && at(look.largest_at) != look.largest;) {
    ++look.largest_at;
  }
  return look;
}

}  // namespace weft::data
