#include "runtime/data/token_bytes.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

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

}  // namespace

void CopyTokens(int64_t width, const uint8_t* from, int64_t count, int32_t* out) {
  width == 4   ? Copy<uint32_t>(from, count, out)
  : width == 2 ? Copy<uint16_t>(from, count, out)
               : Copy<uint8_t>(from, count, out);
}

uint32_t LargestToken(int64_t width, const uint8_t* from, int64_t count) {
  return width == 4   ? Largest<uint32_t>(from, count)
         : width == 2 ? Largest<uint16_t>(from, count)
                      : Largest<uint8_t>(from, count);
}

}  // namespace weft::data
