#include "tools/generate/answers.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/abi/status_macros.h"

namespace weft::generate {

Answers::Answers(Form form, Tokenizer* tokenizer, const Sequences* sequences, int64_t end, std::FILE* out)
    : form_(form), tokenizer_(tokenizer), sequences_(*sequences), end_(end), out_(out) {}

absl::Status Answers::Start() {
  for (const std::vector<int32_t>& tokens : sequences_.tokens) {
    prompts_.push_back(tokens.size());
    if (form_ == Form::kTokens) continue;
    absl::StatusOr<std::string> text = tokenizer_->Decode(tokens);
    if (!text.ok()) return text.status();
    before_.push_back(*std::move(text));
  }
  return absl::OkStatus();
}

absl::Span<const int32_t> Answers::AnswerOf(size_t sequence, bool text) const {
  absl::Span<const int32_t> answer(sequences_.tokens[sequence]);
  answer.remove_prefix(prompts_[sequence]);
  if (text && !answer.empty() && answer.back() == end_) answer.remove_suffix(1);
  return answer;
}

// Behind the prompt: how a token is written may depend on what is before it.
absl::StatusOr<std::string> Answers::TextOf(size_t sequence) const {
  const absl::Span<const int32_t> answer = AnswerOf(sequence, true);
  const absl::Span<const int32_t> all(sequences_.tokens[sequence].data(), prompts_[sequence] + answer.size());
  absl::StatusOr<std::string> text = tokenizer_->Decode(all);
  if (!text.ok()) return text;
  if (absl::StartsWith(*text, before_[sequence])) return text->substr(before_[sequence].size());
  return tokenizer_->Decode(answer);
}

std::string Answers::TokensOf(size_t sequence, size_t from) const {
  return absl::StrCat(from > 0 && from < AnswerOf(sequence, false).size() ? "," : "",
                      absl::StrJoin(AnswerOf(sequence, false).subspan(from), ","));
}

absl::Status Answers::Write(const std::string& text) const {
  if (std::fwrite(text.data(), 1, text.size(), out_) == text.size() && std::fflush(out_) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("standard output: cannot be written: ", std::strerror(errno)));
}

absl::Status Answers::Show() {
  if (prompts_.size() != 1 || form_ == Form::kLines) return absl::OkStatus();
  if (form_ == Form::kTokens) {
    const std::string more = TokensOf(0, shown_);
    shown_ = AnswerOf(0, false).size();
    return Write(more);
  }
  WEFT_ASSIGN_OR_RETURN(const std::string text, TextOf(0));
  const size_t whole = WholeCharacters(text);
  if (whole <= shown_) return absl::OkStatus();
  const std::string more = text.substr(shown_, whole - shown_);
  shown_ = whole;
  return Write(more);
}

absl::Status Answers::Finish() {
  for (size_t i = 0; i < prompts_.size(); ++i) {
    if (form_ == Form::kTokens) {
      WEFT_RETURN_IF_ERROR(Write(TokensOf(i, shown_) + "\n"));
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(const std::string text, TextOf(i));
    if (form_ == Form::kText) {
      WEFT_RETURN_IF_ERROR(Write(text.substr(std::min(shown_, text.size())) + "\n"));
      continue;
    }
    const absl::Span<const int32_t> answer = AnswerOf(i, false);
    const nlohmann::ordered_json line = {{"prompt", before_[i]},
                                         {"answer", text},
                                         {"tokens", std::vector<int32_t>(answer.begin(), answer.end())},
                                         {"ended", !answer.empty() && answer.back() == end_}};
    WEFT_RETURN_IF_ERROR(Write(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
  }
  return absl::OkStatus();
}

}  // namespace weft::generate
