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
#include "runtime/data/mapped_file.h"
#include "runtime/data/token_stream.h"
#include "runtime/plan/job.pb.h"

namespace weft::data {

// See MappedFile for who may read.
class TokenFile : public TokenStream {
 public:
  // Maps the file. AUTO takes the word of a header, llm.c's or NumPy's, else the
  // name: `.bin` holds uint16, anything else is text. kNotFound: no such file. kInvalidArgument: of
  // another kind. kDataLoss: empty, not a whole number of tokens, or not as long
  // as its header says.
  static absl::StatusOr<std::unique_ptr<const TokenFile>> Open(const std::string& path, Format format);

  const std::string& path() const override { return map_->path(); }
  std::string form() const override { return format_ == U32 ? "uint32" : format_ == U16 ? "uint16" : "text"; }
  // TEXT, U16 or U32.
  Format format() const { return format_; }
  int64_t size() const override { return size_; }
  // The token at a position in [0, size()).
  uint32_t at(int64_t position) const;

  void Copy(int64_t begin, int64_t count, int32_t* out) const override;
  TokenLook Look(int64_t limit = kLookBytes) const override;

 private:
  explicit TokenFile(std::shared_ptr<const MappedFile> map) : map_(std::move(map)) {}
  // Sets format_, tokens_ and size_ from the file's content.
  absl::Status Interpret(Format format);
  absl::Status CheckKind(bool has_header) const;
  absl::Status InterpretHeader(Format format);
  absl::Status InterpretNpy(Format format);
  absl::Status CheckAsked(Format format) const;
  absl::Status InterpretRaw();

  const std::shared_ptr<const MappedFile> map_;
  Format format_ = AUTO;
  const uint8_t* tokens_ = nullptr;  // the first token
  int64_t size_ = 0;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_FILE_H_
