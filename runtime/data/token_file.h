// A file of tokens, mapped into memory.
//
// Formats: text, where every byte is a token; and little-endian uint16 or
// uint32: raw, with the header that llm.c writes (dev/data/data_common.py
// there), or as a NumPy array of one dimension (.npy). llm.c's header is 256
// int32, of which [0] is 20240520 or 20240801, [1] the version, 1 for uint16 and
// 7 for uint32, and [2] the number of tokens. A file of another kind (.npz,
// gzip, ...) is refused by its first bytes, and text that has a byte 0 too: no
// way of reading those is what a person means.
#ifndef WEFT_RUNTIME_DATA_TOKEN_FILE_H_
#define WEFT_RUNTIME_DATA_TOKEN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/plan/job.pb.h"

namespace weft::data {

// What a look at a file finds. Two files with the same tokens in the same form have the same hash; files of over
// `limit` bytes are looked at in places alone, the same ones of each file of that size.
struct TokenLook {
  uint32_t largest = 0;
  int64_t largest_at = 0;  // position of the first such token
  uint64_t hash = 0;       // of the bytes, and their number
  bool whole = true;       // whether all of the file was looked at
};

// Owns the mapping. Immutable once open: any thread may read. The file must
// not shrink while it is open; the system ends a process that reads a page
// which is gone.
class TokenFile {
 public:
  // Maps the file. AUTO takes the word of a header, llm.c's or NumPy's, else the
  // name: `.bin` holds uint16, anything else is text. kNotFound: no such file. kInvalidArgument: of
  // another kind. kDataLoss: empty, not a whole number of tokens, or not as long
  // as its header says.
  static absl::StatusOr<std::unique_ptr<const TokenFile>> Open(const std::string& path, Format format);

  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  const std::string& path() const { return path_; }
  // TEXT, U16 or U32.
  Format format() const { return format_; }
  // Number of tokens.
  int64_t size() const { return size_; }
  // The token at a position in [0, size()).
  uint32_t at(int64_t position) const;

  // Writes tokens [begin, begin + count) to `out`, as int32; the caller keeps
  // the range inside the file. Does not allocate.
  void Copy(int64_t begin, int64_t count, int32_t* out) const;

  // Reads up to about `limit` bytes of the file. 256 MiB are a fraction of a second from memory.
  TokenLook Look(int64_t limit = int64_t{256} << 20) const;

 private:
  TokenFile(std::string path, const void* map, int64_t map_bytes)
      : path_(std::move(path)), map_(static_cast<const uint8_t*>(map)), map_bytes_(map_bytes) {}
  // Sets format_, tokens_ and size_ from the file's content.
  absl::Status Interpret(Format format);
  absl::Status CheckKind(bool has_header) const;
  absl::Status InterpretHeader(Format format);
  absl::Status InterpretNpy(Format format);
  absl::Status CheckAsked(Format format) const;
  absl::Status InterpretRaw();

  const std::string path_;
  const uint8_t* const map_;
  const int64_t map_bytes_;
  Format format_ = AUTO;
  const uint8_t* tokens_ = nullptr;  // the first token
  int64_t size_ = 0;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_FILE_H_
