// What a model file names, and where, by its tokens: of a file that does not parse too, which an editor mostly has.
#ifndef WEFT_COMPILER_TEXT_OUTLINE_H_
#define WEFT_COMPILER_TEXT_OUTLINE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/text/tokens.h"

namespace weft::text {

/// A name where it is declared; numbers are those of tokens.
struct Name {
  std::string_view name; // without % and @
  int at;                // the name
  int op = -1;           // of a value: the op that yields it; -1 for what a layer or graph takes
  int result = 0;        // of a value: which one of the op's results, or of the inputs
};

enum class SymbolKind { Config, Layer, Graph };

struct Symbol : Name {
  SymbolKind kind;
  int first, last;              // its first and last token
  std::vector<Name> values;     // inputs and results, in their order
  std::vector<Name> parameters; // of a layer
};

struct Import {
  std::string path;        // as written
  std::string_view prefix; // behind `as`, or empty
  int at;                  // the path
};

struct Outline {
  std::vector<Token> tokens;
  std::vector<Symbol> symbols;
  std::vector<Import> imports;

  /// The layer or graph that a token stands in, or null.
  const Symbol *around(int token) const;
  const Symbol *find(std::string_view name) const;
  /// The token that covers the byte `column` of `line`, or ends there; -1: none.
  int tokenAt(int line, int column) const;
};

/// Points into `text`. Any thread.
Outline outlineOf(std::string_view text);

/// The text of a string token.
std::string unquoted(std::string_view token);

/// The comment that stands above a token, without its slashes; empty if there is none.
std::string commentAbove(const Outline &outline, int token);

} // namespace weft::text

#endif // WEFT_COMPILER_TEXT_OUTLINE_H_
