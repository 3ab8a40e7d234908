#include "compiler/text/format.h"

#include <algorithm>
#include <vector>

#include "compiler/text/tokens.h"

namespace weft::text {
namespace {

constexpr int kIndent = 2;

bool is(const Token &token, std::string_view text) { return token.kind == Kind::Punctuation && token.text == text; }
bool isOp(const Token &token) {
  return token.kind == Kind::Word && (token.text.starts_with("model.") || token.text.starts_with("weft."));
}
bool isAtom(const Token &token) { return token.kind != Kind::Punctuation && token.kind != Kind::Comment; }
bool closes(const Token &token) { return is(token, ")") || is(token, "]"); }

using Line = std::vector<Token>;

// The lines that have tokens.
std::vector<Line> linesOf(const std::vector<Token> &tokens) {
  std::vector<Line> lines;
  for (const Token &token : tokens) {
    if (lines.empty() || lines.back().back().line != token.line) {
      lines.emplace_back();
    }
    lines.back().push_back(token);
  }
  return lines;
}

// Whether `line` begins with what a statement begins with: an op, its results, or the end of a body.
bool beginsStatement(const Line &line) {
  const bool isGeneric = line[0].kind == Kind::String && line.size() > 1 && is(line[1], "(");
  if (isOp(line[0]) || isGeneric || is(line[0], "}")) {
    return true;
  }
  if (line[0].kind != Kind::Value) {
    return false;
  }
  for (const Token &token : line) {
    if (is(token, "=")) {
      return true;
    }
    if (token.kind != Kind::Value && token.kind != Kind::Number && !is(token, ",") && !is(token, ":")) {
      return false;
    }
  }
  return false;
}

class Formatter {
public:
  explicit Formatter(const std::vector<Token> &tokens) : lines(linesOf(tokens)) {}

  std::string run() {
    for (size_t i = 0; i < lines.size(); ++i) {
      write(i);
    }
    return std::move(out);
  }

private:
  void write(size_t i) {
    const Line &line = lines[i];
    if (i > 0 && line[0].line > lines[i - 1][0].line + 1 && !is(line[0], "}") && !is(lines[i - 1].back(), "{")) {
      out += '\n';
    }
    const bool begins = open.empty() && !isOpen && beginsStatement(line);
    column = indentOf(line, begins);
    opColumn = begins ? column : opColumn;
    const int indent = column;
    out.append(column, ' ');
    for (size_t k = 0; k < line.size(); ++k) {
      if (k > 0) {
        const int gap = gapBefore(i, k);
        out.append(gap, ' ');
        column += gap;
      }
      take(line[k], /*isLast=*/k + 1 == line.size(), indent);
    }
    out += '\n';
  }

  int indentOf(const Line &line, bool begins) const {
    if (!open.empty()) {
      return open.back();
    }
    const bool isComment = line[0].kind == Kind::Comment;
    const int body = kIndent * (depth - (is(line[0], "}") ? 1 : 0));
    return std::max(begins || isComment || is(line[0], "}") || opColumn < 0 ? body : opColumn + kIndent, 0);
  }

  // Keeps what is open in step with what is written.
  void take(const Token &token, bool isLast, int indent) {
    if (isOp(token) && open.empty()) {
      opColumn = column;
      op = token.text;
    }
    out += token.text;
    column += int(token.text.size());
    if (is(token, "(") || is(token, "[")) {
      open.push_back(isLast ? indent + 2 * kIndent : column);
    } else if (closes(token) && !open.empty()) {
      open.pop_back();
    } else if (is(token, "{")) {
      ++depth;
      opColumn = -1;
    } else if (is(token, "}")) {
      depth = std::max(depth - 1, 0);
      opColumn = -1;
    }
    angles = std::max(angles + (is(token, "<") ? 1 : is(token, ">") ? -1 : 0), 0);
    if (token.kind != Kind::Comment) {
      isOpen = is(token, "=") || is(token, ",") || is(token, "+") || is(token, "*");
      beforeLast = last;
      last = &token;
    }
  }

  int gapBefore(size_t i, size_t k) const {
    const Token &left = lines[i][k - 1], &right = lines[i][k];
    const int gap = right.column - left.end();
    if (right.kind == Kind::Comment) {
      return gap >= 1 && isAligned(i, right) ? gap : 2;
    }
    if (isOp(right) && open.empty() && !isOpen && !is(left, "{")) {
      return std::max(gap, 2); // another statement
    }
    const int wanted = spaceBetween(left, right, gap);
    return wanted == 1 && gap > 1 && isAligned(i, right) ? gap : wanted;
  }

  // Whether a neighbouring line has a token where `token` begins, behind spaces.
  bool isAligned(size_t i, const Token &token) const {
    auto has = [&](size_t other) {
      return std::abs(lines[other][0].line - token.line) == 1 &&
             std::any_of(lines[other].begin() + 1, lines[other].end(),
                         [&](const Token &one) { return one.column == token.column && one.kind == token.kind; });
    };
    return (i > 0 && has(i - 1)) || (i + 1 < lines.size() && has(i + 1));
  }

  // What stands between two tokens of a line of which the text has `gap` spaces.
  int spaceBetween(const Token &left, const Token &right, int gap) const {
    const int asItIs = std::min(gap, 1);
    if (angles > 0 || is(left, "<") || is(right, "<") || is(right, ">")) {
      return asItIs; // types
    }
    if (is(right, ",") || closes(right) || is(left, "(") || is(left, "[")) {
      return 0;
    }
    if (is(left, ",") || is(left, "=") || (is(left, "{") && isOp(right)) || is(right, "=") || is(right, "{") ||
        is(right, "->") || is(left, "->")) {
      return 1;
    }
    if (is(right, "(")) {
      return spaceBeforeParenthesis(left, asItIs);
    }
    if (is(left, "-")) {
      const bool isSign = beforeLast == nullptr || !(isAtom(*beforeLast) || closes(*beforeLast));
      return isSign ? 0 : 1;
    }
    auto isOperator = [](const Token &token) { return is(token, "+") || is(token, "*") || is(token, "-"); };
    if (isOperator(left) || isOperator(right) || is(right, "[")) {
      return 1;
    }
    return (isAtom(left) || closes(left)) && isAtom(right) ? 1 : asItIs;
  }

  int spaceBeforeParenthesis(const Token &left, int asItIs) const {
    if (left.kind == Kind::Word) {
      return isOp(left) || left.text == "floordiv" || left.text == "mod" ? 1 : 0;
    }
    if (left.kind == Kind::Symbol) {
      return op == "model.call" ? 1 : 0; // its values; elsewhere what a name has
    }
    return isAtom(left) || closes(left) || is(left, "+") || is(left, "*") ? 1 : asItIs;
  }

  const std::vector<Line> lines;
  std::string out;
  int column = 0, depth = 0, angles = 0;
  int opColumn = -1;                                  // of the op of the statement; -1 behind a brace
  std::string_view op;                                // its name
  bool isOpen = false;                                // behind a token that more has to follow
  std::vector<int> open;                              // where lines within each open bracket begin
  const Token *last = nullptr, *beforeLast = nullptr; // written, comments aside
};

} // namespace

std::string formatted(std::string_view text) {
  std::string before, now(text);
  // A space that goes may take away what another one is aligned with. Each turn has fewer spaces to ask about.
  while (before != now) {
    before = std::move(now);
    now = Formatter(tokensOf(before)).run();
  }
  return now;
}

} // namespace weft::text
