#include "compiler/text/tokens.h"

#include <cctype>

namespace weft::text {
namespace {

bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool isLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool isOfWord(char c) { return isLetter(c) || isDigit(c) || c == '.' || c == '$'; }
bool isOfValue(char c) { return isOfWord(c) || c == '-'; }

// Cuts one text from its beginning on. Each take... says how many bytes the token at `at` has.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (at < text.size()) {
      const char c = text[at];
      if (c == '\n') {
        ++line;
        lineStart = ++at;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at;
      } else {
        const auto [kind, size] = next(c);
        tokens.push_back({kind, text.substr(at, size), line, int(at - lineStart)});
        at += size;
      }
    }
    return tokens;
  }

private:
  struct Cut {
    Kind kind;
    size_t size;
  };

  Cut next(char c) const {
    if (peek(0, "//")) {
      size_t end = text.find('\n', at);
      end = end == std::string_view::npos ? text.size() : end;
      while (end > at && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) {
        --end;
      }
      return {Kind::Comment, end - at};
    }
    if (c == '"') {
      return {Kind::String, quoted(0)};
    }
    if (c == '%' && more(1, isOfValue) > 0) {
      return {Kind::Value, 1 + more(1, isDigit(text[at + 1]) ? isDigit : isOfValue)};
    }
    if (c == '@' && at + 1 < text.size()) {
      return {Kind::Symbol, 1 + (text[at + 1] == '"' ? quoted(1) : more(1, isOfWord))};
    }
    if (isLetter(c)) {
      return {Kind::Word, more(0, isOfWord)};
    }
    if ((c == '#' || c == '!' || c == '^') && more(1, isOfWord) > 0) {
      return {Kind::Word, 1 + more(1, isOfWord)};
    }
    if (isDigit(c)) {
      return {Kind::Number, number()};
    }
    return {Kind::Punctuation, size_t(peek(0, "->") ? 2 : 1)};
  }

  bool peek(size_t offset, std::string_view what) const { return text.substr(at + offset, what.size()) == what; }

  // How many bytes from `offset` on are `is`.
  template <typename Is> size_t more(size_t offset, Is is) const {
    size_t end = at + offset;
    while (end < text.size() && is(text[end])) {
      ++end;
    }
    return end - at - offset;
  }

  size_t quoted(size_t offset) const {
    size_t end = at + offset + 1;
    while (end < text.size() && text[end] != '\n') {
      if (text[end] == '"') {
        return end + 1 - at - offset;
      }
      end += text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n' ? 2 : 1;
    }
    return end - at - offset;
  }

  size_t number() const {
    auto isHex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    if (peek(0, "0x") && more(2, isHex) > 0) {
      return 2 + more(2, isHex);
    }
    size_t size = more(0, isDigit);
    if (!peek(size, ".")) {
      return size;
    }
    size += 1 + more(size + 1, isDigit);
    if (peek(size, "e") || peek(size, "E")) {
      const size_t sign = peek(size + 1, "-") || peek(size + 1, "+") ? 1 : 0;
      const size_t digits = more(size + 1 + sign, isDigit);
      size += digits > 0 ? 1 + sign + digits : 0;
    }
    return size;
  }

  std::string_view text;
  size_t at = 0, lineStart = 0;
  int line = 0;
};

} // namespace

std::vector<Token> tokensOf(std::string_view text) { return Lexer(text).run(); }

} // namespace weft::text
