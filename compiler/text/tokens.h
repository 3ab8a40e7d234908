// A model file as its tokens, comments among them. Plain text: what does not parse has tokens too.
#ifndef WEFT_COMPILER_TEXT_TOKENS_H_
#define WEFT_COMPILER_TEXT_TOKENS_H_

#include <string_view>
#include <vector>

namespace weft::text {

enum class Kind {
  Comment,     // from // to the end of the line
  Value,       // %x
  Symbol,      // @mlp, @"a b"
  Word,        // init, weft.add, #weft.sbp, !weft.any, ^block
  Number,      // 12, 1.0e-5, 0x1F
  String,      // "h", with its quotes
  Punctuation, // one letter, or ->
};

struct Token {
  Kind kind;
  std::string_view text;
  int line, column; // from 0, in bytes

  int end() const { return column + int(text.size()); } // a token stands in one line
};

/// The tokens of `text` in their order, as MLIR's lexer cuts them; they point into it. A string without its closing
/// quote ends with the line. Any thread.
std::vector<Token> tokensOf(std::string_view text);

} // namespace weft::text

#endif // WEFT_COMPILER_TEXT_TOKENS_H_
