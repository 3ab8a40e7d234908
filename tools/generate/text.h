// Tokens of text, and text of tokens.
#ifndef WEFT_TOOLS_GENERATE_TEXT_H_
#define WEFT_TOOLS_GENERATE_TEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace weft::generate {

// One thread at a time.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // How many tokens there are.
  virtual int64_t size() const = 0;
  virtual absl::StatusOr<std::vector<int32_t>> Encode(const std::string& text) = 0;
  virtual absl::StatusOr<std::string> Decode(absl::Span<const int32_t> tokens) = 0;
};

// A byte is a token.
std::unique_ptr<Tokenizer> Bytes();

// A tokenizer.json, by the Python package `tokenizers` in a process of its own, which ends with this. kInvalidArgument
// if the file is none; kFailedPrecondition if there is no such package.
absl::StatusOr<std::unique_ptr<Tokenizer>> OpenTokenizer(const std::string& path);

// What of `text` may be printed: without the bytes of a character at its end that is not whole, of which `tokenizers`
// makes U+FFFD.
size_t WholeCharacters(const std::string& text);

}  // namespace weft::generate

#endif  // WEFT_TOOLS_GENERATE_TEXT_H_
