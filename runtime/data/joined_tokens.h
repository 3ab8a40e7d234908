// Streams of tokens, one behind the other: the shards of a set.
#ifndef WEFT_RUNTIME_DATA_JOINED_TOKENS_H_
#define WEFT_RUNTIME_DATA_JOINED_TOKENS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/token_stream.h"

namespace weft::data {

// Owns the streams.
class JoinedTokens : public TokenStream {
 public:
  // At least one stream; `path` is for people. kInvalidArgument: streams of different forms.
  static absl::StatusOr<std::unique_ptr<const JoinedTokens>> Create(
      const std::string& path, std::vector<std::unique_ptr<const TokenStream>> streams);

  const std::string& path() const override { return path_; }
  std::string form() const override { return streams_[0]->form(); }
  int64_t documents() const override;
  // A stream begins a document, whether anything says so or not.
  int64_t NextDocument(int64_t after, int64_t limit) const override;
  int64_t size() const override { return starts_.back(); }
  void Copy(int64_t begin, int64_t count, int32_t* out) const override;
  TokenLook Look(int64_t limit = kLookBytes) const override;

 private:
  JoinedTokens(std::string path, std::vector<std::unique_ptr<const TokenStream>> streams);

  const std::string path_;
  const std::vector<std::unique_ptr<const TokenStream>> streams_;
  std::vector<int64_t> starts_;  // of each stream, and the end
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_JOINED_TOKENS_H_
