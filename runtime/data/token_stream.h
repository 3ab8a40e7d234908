// Tokens, one after the other.
#ifndef WEFT_RUNTIME_DATA_TOKEN_STREAM_H_
#define WEFT_RUNTIME_DATA_TOKEN_STREAM_H_

#include <cstdint>
#include <string>

#include "runtime/data/look.h"

namespace weft::data {

// What a look at tokens finds. The same tokens in the same form have the same hash; of over `limit` bytes only parts
// are looked at, the same ones of every stream of that size.
struct TokenLook {
  uint32_t largest = 0;
  std::string largest_in;  // the file
  int64_t largest_at = 0;  // position in it of the first such token
  uint64_t hash = 0;       // of the bytes, and their number
  bool whole = true;       // whether everything was looked at
};

// Immutable: any thread may read.
class TokenStream {
 public:
  virtual ~TokenStream() = default;
  // Where they come from, for people.
  virtual const std::string& path() const = 0;
  // "uint16", "uint32", "int32", "text", ...
  virtual std::string form() const = 0;
  // Number of documents; 0 if nothing says where they begin.
  virtual int64_t documents() const { return 0; }
  // Where the first document begins that is known to begin in (after, limit), or `limit`. Does not allocate.
  virtual int64_t NextDocument([[maybe_unused]] int64_t after, int64_t limit) const { return limit; }
  // Number of tokens.
  virtual int64_t size() const = 0;
  // Writes tokens [begin, begin + count) to `out`, as int32; the caller keeps the range inside. Does not allocate.
  virtual void Copy(int64_t begin, int64_t count, int32_t* out) const = 0;
  // Reads up to about `limit` bytes.
  virtual TokenLook Look(int64_t limit = kLookBytes) const = 0;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_STREAM_H_
