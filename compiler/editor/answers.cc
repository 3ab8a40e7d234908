#include "compiler/editor/answers.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/editor/op_pages.h"
#include "compiler/job/axes.h"

namespace weft::editor {
namespace {

using text::Kind;
using text::Outline;
using text::Symbol;
using text::SymbolKind;
using text::Token;

// Names of one kind that a hover shows.
constexpr size_t kMostNames = 4;

bool isPunctuation(const Token &token, std::string_view text) {
  return token.kind == Kind::Punctuation && token.text == text;
}
bool isOp(const Token &token) {
  return token.kind == Kind::Word && (token.text.starts_with("weft.") || token.text.starts_with("model."));
}

std::string listOf(const std::vector<std::string> &names) {
  const std::vector<std::string> first(names.begin(), names.begin() + std::min(names.size(), kMostNames));
  const size_t more = names.size() - first.size();
  return absl::StrCat(absl::StrJoin(first, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

// The head of a layer or graph, or a whole config: its tokens up to the body, as one line.
std::string headOf(const Outline &outline, const Symbol &symbol) {
  std::string head;
  const Token *last = nullptr;
  for (int i = symbol.first; i <= symbol.last && !isPunctuation(outline.tokens[i], "{"); ++i) {
    const Token &token = outline.tokens[i];
    if (token.kind == Kind::Comment) {
      continue;
    }
    const bool apart = last && (token.line != last->line || token.column > last->end());
    head += (apart ? " " : "") + std::string(token.text);
    last = &token;
  }
  return head;
}

std::string inCode(const std::string &text) { return "```mlir\n" + text + "\n```\n"; }

std::string lineOf(const Instance &instance) {
  return absl::StrCat(instance.type, instance.layout.empty() ? "" : ", lies " + instance.layout,
                      instance.stored.empty() ? "" : ", in files " + instance.stored,
                      instance.sbp.empty() ? "" : ", sbp(" + instance.sbp + ")");
}

} // namespace

Facts::OfJob factsOf(const Elaboration &elaboration, const std::string &file, const Outline &outline,
                     const std::string &job) {
  Facts::OfJob facts{job, {}, elaboration.configuration};
  for (const Symbol &symbol : outline.symbols) {
    for (const text::Name &value : symbol.values) {
      const Token &token = outline.tokens[value.op >= 0 ? value.op : value.at];
      const Place place{file, unsigned(token.line + 1), unsigned(token.column + 1)};
      if (auto it = elaboration.values.find({place, value.result}); it != elaboration.values.end()) {
        facts.values[{std::string(symbol.name), std::string(value.name)}] = it->second;
      }
    }
  }
  return facts;
}

// ---- what is declared ---------------------------------------------------------

const Outline *Answers::outlineAt(const std::string &path) const {
  auto it = imported.find(path);
  if (it == imported.end()) {
    std::optional<std::string> there = texts(path);
    if (!there) {
      return nullptr;
    }
    it = imported.emplace(path, std::pair(*std::move(there), Outline())).first;
    it->second.second = text::outlineOf(it->second.first);
  }
  return &it->second.second;
}

void Answers::addDeclared(const std::string &path, const Outline &outline, const std::string &prefix,
                          std::vector<std::string> &seen, std::vector<Declared> &all) const {
  // One file may come under several prefixes.
  if (const std::string key = prefix + ":" + path; std::count(seen.begin(), seen.end(), key) == 0) {
    seen.push_back(key);
  } else {
    return;
  }
  for (const Symbol &symbol : outline.symbols) {
    all.push_back({path, prefix + std::string(symbol.name), &symbol, &outline});
  }
  for (const text::Import &import : outline.imports) {
    std::error_code none;
    const std::filesystem::path there = std::filesystem::path(path).parent_path() / import.path;
    const std::string real = std::filesystem::weakly_canonical(there, none).string();
    const bool isCycle = prefix.size() > 256; // a file that imports itself under ever new names
    if (const Outline *other = isCycle ? nullptr : outlineAt(real)) {
      const std::string added = import.prefix.empty() ? "" : std::string(import.prefix) + ".";
      addDeclared(real, *other, prefix + added, seen, all);
    }
  }
}

std::vector<Answers::Declared> Answers::declared() const {
  std::vector<Declared> all;
  std::vector<std::string> seen;
  addDeclared(file, outline, "", seen, all);
  return all;
}

std::optional<Answers::Declared> Answers::find(const std::string &name) const {
  // This file's come first: an override hides what it takes the place of.
  for (const Declared &one : declared()) {
    if (one.name == name) {
      return one;
    }
  }
  return std::nullopt;
}

Span Answers::spanOf(int token) const {
  const Token &t = outline.tokens[token];
  return {file, t.line, t.column, t.end()};
}

// ---- go to --------------------------------------------------------------------

std::optional<Span> Answers::definition(int line, int column) const {
  const int at = outline.tokenAt(line, column);
  if (at < 0) {
    return std::nullopt;
  }
  const Token &token = outline.tokens[at];
  const Symbol *around = outline.around(at);
  const std::string name(token.text.substr(token.kind == Kind::Word ? 0 : 1));
  if (token.kind == Kind::Value && around) {
    for (const text::Name &value : around->values) {
      if (value.name == name) {
        return spanOf(value.at);
      }
    }
    return std::nullopt;
  }
  if (token.kind == Kind::String) {
    for (const text::Import &import : outline.imports) {
      if (import.at == at) {
        std::error_code none;
        const std::filesystem::path there = std::filesystem::path(file).parent_path() / import.path;
        const std::string path = std::filesystem::weakly_canonical(there, none).string();
        return texts(path) ? std::optional<Span>({path, 0, 0, 0}) : std::nullopt;
      }
    }
    return std::nullopt;
  }
  if (token.kind != Kind::Symbol && token.kind != Kind::Word) {
    return std::nullopt;
  }
  // A parameter hides a layer, or a number, of its name.
  for (const text::Name &parameter : around ? around->parameters : std::vector<text::Name>()) {
    if (parameter.name == name) {
      return spanOf(parameter.at);
    }
  }
  const std::optional<Declared> found = find(name);
  const bool isNumber = found && found->symbol->kind == SymbolKind::Config;
  if (!found || (token.kind == Kind::Word && !isNumber)) {
    return std::nullopt;
  }
  const Token &there = found->outline->tokens[found->symbol->at];
  return Span{found->path, there.line, there.column, there.end()};
}

// ---- hover --------------------------------------------------------------------

std::string Answers::hoverOfValue(const Symbol &around, const std::string &name) const {
  std::string shown;
  for (const Facts::OfJob &job : facts.jobs) {
    auto it = job.values.find({std::string(around.name), name});
    if (it == job.values.end()) {
      continue;
    }
    // Where it is the same, it is said once; graphs mostly agree.
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (const Instance &instance : it->second) {
      const std::string line = lineOf(instance);
      auto group = std::find_if(groups.begin(), groups.end(), [&](auto &known) { return known.first == line; });
      group = group == groups.end() ? groups.insert(group, {line, {}}) : group;
      const std::string &where = instance.parameter.empty() ? instance.scope : instance.parameter;
      if (!where.empty() && std::count(group->second.begin(), group->second.end(), where) == 0) {
        group->second.push_back(where);
      }
    }
    const bool isParameter = !it->second.front().parameter.empty();
    std::string code;
    for (const auto &[line, names] : groups) {
      const std::string what = isParameter ? "parameter " : "in ";
      absl::StrAppend(&code, code.empty() ? "" : "\n", "%", name, ": ", line,
                      names.empty() ? "" : "\n  " + what + listOf(names));
    }
    absl::StrAppend(&shown, inCode(code),
                    job.job.empty() ? "without a job: batch = 1\n" : "as `" + job.job + "` has it\n");
  }
  return shown.empty() ? inCode(absl::StrCat("%", name)) + "no shape: what elaborates does not come here\n" : shown;
}

std::string Answers::hoverOfSymbol(const Declared &found) const {
  std::string shown = inCode(headOf(*found.outline, *found.symbol));
  for (const Facts::OfJob &job : facts.jobs) {
    auto it = job.configuration.find(found.name);
    if (found.symbol->kind == SymbolKind::Config && it != job.configuration.end()) {
      absl::StrAppend(&shown, it->second, job.job.empty() ? "" : " in `" + job.job + "`", "\n\n");
    }
  }
  return absl::StrCat(shown, commentAbove(*found.outline, found.symbol->first));
}

std::optional<Hover> Answers::hover(int line, int column) const {
  const int at = outline.tokenAt(line, column);
  if (at < 0) {
    return std::nullopt;
  }
  const Token &token = outline.tokens[at];
  const Symbol *around = outline.around(at);
  if (token.kind == Kind::Value && around) {
    return Hover{spanOf(at), hoverOfValue(*around, std::string(token.text.substr(1)))};
  }
  if (const OpPage *page = isOp(token) ? findOpPage(token.text) : nullptr) {
    return Hover{spanOf(at), "**" + std::string(page->name) + "**: " + std::string(page->summary) + "\n\n" +
                                 std::string(page->text)};
  }
  if (token.kind == Kind::Symbol || token.kind == Kind::Word) {
    const std::string name(token.text.substr(token.kind == Kind::Word ? 0 : 1));
    for (const text::Name &parameter : around ? around->parameters : std::vector<text::Name>()) {
      if (parameter.name == name) {
        return Hover{spanOf(at), "parameter of `@" + std::string(around->name) + "`"};
      }
    }
    const std::optional<Declared> found = find(name);
    if (found && (token.kind == Kind::Symbol || found->symbol->kind == SymbolKind::Config)) {
      return Hover{spanOf(at), hoverOfSymbol(*found)};
    }
  }
  return std::nullopt;
}

// ---- completion ---------------------------------------------------------------

std::vector<Completion> Answers::numbers(const Symbol *around) const {
  std::vector<Completion> all;
  if (around) {
    for (const text::Name &parameter : around->parameters) {
      all.push_back({std::string(parameter.name), Completion::Kind::Number, "parameter", ""});
    }
  }
  for (const Declared &one : declared()) {
    if (one.symbol->kind == SymbolKind::Config) {
      all.push_back({one.name, Completion::Kind::Number, headOf(*one.outline, *one.symbol), ""});
    }
  }
  all.push_back({"batch", Completion::Kind::Number, "sequences of a micro-batch", ""});
  for (const char *function : {"floordiv", "mod", "sqrt", "rsqrt", "exp", "log", "min", "max", "if"}) {
    all.push_back({function, Completion::Kind::Word, "", ""});
  }
  return all;
}

namespace {

// What stands before a place, as far as completion asks.
struct Typing {
  const OpPage *page = nullptr;       // of the statement's op
  std::vector<std::string_view> open; // the word before each bracket that is open
  std::string_view typed;             // what of a word is there
  std::string_view before;            // the token before that
  int begin = 0;                      // of the word
  int last = -1;                      // the last token
  int op = -1;                        // the token of the statement's op
  bool isFirst = true;                // nothing else is in the line
  bool isText = false;                // a comment, or a string
};

Typing typingAt(const Outline &outline, int line, int column) {
  Typing at;
  at.begin = column;
  for (int i = 0; i < int(outline.tokens.size()); ++i) {
    const Token &token = outline.tokens[i];
    if (token.line > line || (token.line == line && token.column >= column)) {
      break;
    }
    const bool isSign = isPunctuation(token, "%") || isPunctuation(token, "@");
    const bool isTyped = token.line == line && column <= token.end() && (token.kind != Kind::Punctuation || isSign);
    at.last = i;
    at.typed = isTyped ? token.text.substr(0, column - token.column) : "";
    at.begin = isTyped ? token.column : column;
    at.isText = token.line == line && (token.kind == Kind::Comment || (isTyped && token.kind == Kind::String));
    at.isFirst = at.isFirst && (token.line != line || isTyped);
    if (isTyped || token.kind == Kind::Comment) {
      continue;
    }
    if (isOp(token)) {
      at.page = findOpPage(token.text);
      at.op = i;
      at.open.clear();
    } else if (isPunctuation(token, "(") || isPunctuation(token, "[")) {
      at.open.push_back(at.before);
    } else if (isPunctuation(token, ")") || isPunctuation(token, "]")) {
      at.open.resize(at.open.empty() ? 0 : at.open.size() - 1);
    } else if ((isPunctuation(token, "=") && at.open.empty()) || isPunctuation(token, "{") ||
               isPunctuation(token, "}")) {
      at.page = nullptr;
      at.open.clear();
    }
    at.before = token.text;
  }
  return at;
}

} // namespace

Completions Answers::completion(int line, int column) const {
  const Typing at = typingAt(outline, line, column);
  std::vector<Completion> all;
  auto add = [&](const std::vector<Completion> &more) { all.insert(all.end(), more.begin(), more.end()); };
  const Symbol *around = at.last < 0 ? nullptr : outline.around(at.last);
  const bool isOpName = at.typed.starts_with("weft.") || at.typed.starts_with("model.");
  const bool isBehindEquals = at.open.empty() && !at.page && at.before == "=";
  if (at.isText) {
    return {at.begin, {}};
  }
  if (at.typed.starts_with("%")) {
    for (const text::Name &value : around ? around->values : std::vector<text::Name>()) {
      if (value.at < at.last && value.op != at.op) {
        all.push_back({"%" + std::string(value.name), Completion::Kind::Value, "", ""});
      }
    }
  } else if (at.typed.starts_with("@")) {
    for (const Declared &one : declared()) {
      if (one.symbol->kind == SymbolKind::Layer) {
        all.push_back({absl::StrCat("@", one.name), Completion::Kind::Layer, headOf(*one.outline, *one.symbol),
                       commentAbove(*one.outline, one.symbol->first)});
      }
    }
  } else if (!at.open.empty() && at.open.back() == "sbp") {
    for (std::string_view axis : MeshKeys()) {
      all.push_back({std::string(axis), Completion::Kind::Word, "axis of the mesh", ""});
    }
    for (const char *state : {"S(0)", "S(1)", "B", "P"}) {
      all.push_back({state, Completion::Kind::Word, "how it lies over an axis", ""});
    }
  } else if (!at.open.empty()) {
    add(numbers(around));
  } else {
    if (isOpName || isBehindEquals || at.isFirst) {
      for (const OpPage &one : opPages()) {
        all.push_back({std::string(one.name), Completion::Kind::Op, std::string(one.summary), std::string(one.text)});
      }
    }
    for (std::string_view word : at.page ? at.page->words : std::vector<std::string_view>()) {
      all.push_back({std::string(word), Completion::Kind::Word, std::string(at.page->name), ""});
    }
    if (at.page && at.page->name == "model.repeat") {
      add(numbers(around));
    }
  }
  std::erase_if(all, [&](const Completion &one) { return !one.label.starts_with(at.typed); });
  return {at.begin, all};
}

} // namespace weft::editor
