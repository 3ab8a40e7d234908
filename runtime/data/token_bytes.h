// Tokens of 1, 2 or 4 bytes each, little-endian, at any address.
#ifndef WEFT_RUNTIME_DATA_TOKEN_BYTES_H_
#define WEFT_RUNTIME_DATA_TOKEN_BYTES_H_

#include <cstdint>
#include <string>

#include "runtime/data/token_stream.h"

namespace weft::data {

// Writes `count` tokens of `width` bytes to `out`.
void CopyTokens(int64_t width, const uint8_t* from, int64_t count, int32_t* out);

// Looks at a file of tokens, called `path`, that begin at byte `data`, a multiple of 8, in parts of about `limit`
// bytes.
TokenLook LookAtTokens(const std::string& path, int64_t width, const uint8_t* file, int64_t bytes, int64_t data,
                       int64_t limit);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_BYTES_H_
