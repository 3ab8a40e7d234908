// Tokens of 1, 2 or 4 bytes each, little-endian, at any address.
#ifndef WEFT_RUNTIME_DATA_TOKEN_BYTES_H_
#define WEFT_RUNTIME_DATA_TOKEN_BYTES_H_

#include <cstdint>

namespace weft::data {

// Writes `count` tokens of `width` bytes to `out`.
void CopyTokens(int64_t width, const uint8_t* from, int64_t count, int32_t* out);

// The largest of `count` tokens; 0 of none.
uint32_t LargestToken(int64_t width, const uint8_t* from, int64_t count);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_BYTES_H_
