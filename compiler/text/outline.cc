#include "compiler/text/outline.h"

#include <algorithm>

namespace weft::text {
namespace {

bool isPunctuation(const Token &token, std::string_view text) {
  return token.kind == Kind::Punctuation && token.text == text;
}

std::string_view nameOf(const Token &symbol) {
  std::string_view name = symbol.text.substr(1);
  return name.starts_with('"') && name.size() > 1 ? name.substr(1, name.size() - 2) : name;
}

class Reader {
public:
  explicit Reader(std::string_view text) { outline.tokens = tokensOf(text); }

  Outline run() {
    for (at = 0; at < count(); ++at) {
      const std::string_view word = token(at).kind == Kind::Word ? token(at).text : "";
      if (word == "model.import") {
        takeImport();
      } else if (word == "model.config") {
        begin(SymbolKind::Config);
      } else if (word == "model.layer" || word == "model.graph") {
        begin(word == "model.layer" ? SymbolKind::Layer : SymbolKind::Graph);
        takeHead();
      } else if (word.starts_with("weft.") || word.starts_with("model.")) {
        takeResults();
      }
      if (!outline.symbols.empty()) {
        outline.symbols.back().last = at;
      }
    }
    return std::move(outline);
  }

private:
  int count() const { return int(outline.tokens.size()); }
  const Token &token(int i) const { return outline.tokens[i]; }
  bool isAt(int i, Kind kind) const { return i < count() && token(i).kind == kind; }
  bool isAt(int i, std::string_view text) const { return i < count() && isPunctuation(token(i), text); }

  void takeImport() {
    if (!isAt(at + 1, Kind::String)) {
      return;
    }
    Import import{unquoted(token(at + 1).text), "", at + 1};
    if (isAt(at + 2, Kind::Word) && token(at + 2).text == "as" && isAt(at + 3, Kind::String)) {
      import.prefix = token(at + 3).text.substr(1, std::max<size_t>(token(at + 3).text.size(), 2) - 2);
    }
    outline.imports.push_back(import);
  }

  void begin(SymbolKind kind) {
    int name = at + 1;
    if (isAt(name, Kind::Word)) { // override
      ++name;
    }
    const bool isNamed = isAt(name, Kind::Symbol);
    Symbol symbol{{isNamed ? nameOf(token(name)) : "", isNamed ? name : at}, kind, at, at, {}, {}};
    outline.symbols.push_back(symbol);
  }

  // `(%x, %y) [in, out = 1]` behind a name, up to the body.
  void takeHead() {
    Symbol &symbol = outline.symbols.back();
    int depth = 0;
    bool isParameter = false;
    for (; at + 1 < count() && !isAt(at + 1, "{"); ++at) {
      const Token &next = token(at + 1);
      const bool opens = isPunctuation(next, "(") || isPunctuation(next, "[");
      if (next.kind == Kind::Word && (next.text.starts_with("model.") || next.text.starts_with("weft."))) {
        return; // a head that somebody is writing
      }
      if (next.kind == Kind::Value && depth == 1) {
        symbol.values.push_back({next.text.substr(1), at + 1, -1, int(symbol.values.size())});
      }
      if (next.kind == Kind::Word && isParameter && depth == 1 && (isAt(at, "[") || isAt(at, ","))) {
        symbol.parameters.push_back({next.text, at + 1});
      }
      if (opens && depth == 0) {
        isParameter = symbol.kind == SymbolKind::Layer && isPunctuation(next, "[");
      }
      depth += opens ? 1 : isPunctuation(next, ")") || isPunctuation(next, "]") ? -1 : 0;
    }
  }

  // `%a, %b =` before the op at `at`.
  void takeResults() {
    if (outline.symbols.empty() || at == 0 || !isAt(at - 1, "=")) {
      return;
    }
    int first = at - 1;
    while (first > 0 && isAt(first - 1, Kind::Value)) {
      --first;
      if (first == 0 || !isAt(first - 1, ",")) {
        break;
      }
      --first;
    }
    int result = 0;
    for (int i = first; i < at; ++i) {
      if (token(i).kind == Kind::Value) {
        outline.symbols.back().values.push_back({token(i).text.substr(1), i, at, result++});
      }
    }
  }

  Outline outline;
  int at = 0;
};

} // namespace

Outline outlineOf(std::string_view text) { return Reader(text).run(); }

const Symbol *Outline::around(int token) const {
  for (const Symbol &symbol : symbols) {
    if (symbol.kind != SymbolKind::Config && symbol.first <= token && token <= symbol.last) {
      return &symbol;
    }
  }
  return nullptr;
}

const Symbol *Outline::find(std::string_view name) const {
  auto it = std::find_if(symbols.begin(), symbols.end(), [&](const Symbol &symbol) { return symbol.name == name; });
  return it == symbols.end() ? nullptr : &*it;
}

int Outline::tokenAt(int line, int column) const {
  int found = -1;
  for (int i = 0; i < int(tokens.size()); ++i) {
    const Token &token = tokens[i];
    if (token.line == line && token.column <= column && column <= token.end()) {
      // At a seam the word counts, not the bracket beside it; of two words the one that begins there.
      const bool isWord = token.kind != Kind::Punctuation;
      found = found < 0 || isWord ? i : found;
    }
  }
  return found;
}

std::string unquoted(std::string_view token) {
  std::string text;
  const size_t end = token.size() > 1 && token.ends_with('"') ? token.size() - 1 : token.size();
  for (size_t i = 1; i < end; ++i) {
    i += token[i] == '\\' && i + 1 < end ? 1 : 0;
    text += token[i];
  }
  return text;
}

std::string commentAbove(const Outline &outline, int token) {
  int line = outline.tokens[token].line;
  std::string text;
  for (int i = token - 1; i >= 0; --i) {
    const Token &above = outline.tokens[i];
    if (above.line == line) {
      continue; // before it in its line
    }
    const bool isAlone = i == 0 || outline.tokens[i - 1].line != above.line;
    if (above.kind != Kind::Comment || above.line != line - 1 || !isAlone) {
      break;
    }
    std::string_view words = above.text.substr(2);
    words = words.substr(std::min(words.find_first_not_of(' '), words.size()));
    text = std::string(words) + (text.empty() ? "" : "\n") + text;
    line = above.line;
  }
  return text;
}

} // namespace weft::text
