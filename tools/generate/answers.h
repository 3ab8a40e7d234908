// How answers are shown.
#ifndef WEFT_TOOLS_GENERATE_ANSWERS_H_
#define WEFT_TOOLS_GENERATE_ANSWERS_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/generate/feed.h"
#include "tools/generate/text.h"

namespace weft::generate {

enum class Form {
  kText,    // of one prompt, as it comes
  kTokens,  // a line a prompt, "1,2,3"; of one prompt as they come
  kLines,   // an object of JSON a line
};

class Answers {
 public:
  // `tokenizer` may be null with kTokens. `end`: no part of a text; below 0: none.
  Answers(Form form, Tokenizer* tokenizer, const Sequences* sequences, int64_t end, std::FILE* out);

  // Before the first answer; sequences are prompts.
  absl::Status Start();
  // Of a single prompt: shows what is new.
  absl::Status Show();
  // Shows the rest, when no sequence gets more.
  absl::Status Finish();

 private:
  // The answer, without the end token where `text`.
  absl::Span<const int32_t> AnswerOf(size_t sequence, bool text) const;
  absl::StatusOr<std::string> TextOf(size_t sequence) const;
  absl::Status Write(const std::string& text) const;
  std::string TokensOf(size_t sequence, size_t from) const;

  const Form form_;
  Tokenizer* const tokenizer_;
  const Sequences& sequences_;
  const int64_t end_;
  std::FILE* const out_;
  std::vector<size_t> prompts_;      // tokens of each
  std::vector<std::string> before_;  // their texts
  size_t shown_ = 0;                 // bytes of text, or tokens
};

}  // namespace weft::generate

#endif  // WEFT_TOOLS_GENERATE_ANSWERS_H_
