// What a file is that holds no tokens, by its first bytes.
#ifndef WEFT_RUNTIME_DATA_FILE_KIND_H_
#define WEFT_RUNTIME_DATA_FILE_KIND_H_

#include <cstdint>
#include <string>

namespace weft::data {

// "a NumPy array (.npy)", "a gzip archive", ...; "" for a file of no kind that is known. Every kind is known by at
// least four bytes, which hardly begin a file of tokens by chance.
std::string KindOf(const uint8_t* bytes, int64_t count);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_FILE_KIND_H_
