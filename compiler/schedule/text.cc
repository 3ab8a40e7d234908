#include <cctype>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/schedule/check.h"

namespace weft::schedule {
namespace {

constexpr char kLetters[] = "FBW";
constexpr size_t kMostDigits = 9; // of a number that surely fits

struct Word {
  std::string text;
  size_t column; // 1-based
};

/// What a line holds, without comment and blanks.
std::vector<Word> wordsOf(const std::string &line) {
  std::vector<Word> words;
  bool inWord = false;
  for (size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
    bool blank = std::isspace(static_cast<unsigned char>(line[i]));
    if (!blank && !inWord)
      words.push_back({"", i + 1});
    if (!blank)
      words.back().text += line[i];
    inWord = !blank;
  }
  return words;
}

/// Reads digits from `at` on, which goes behind them.
std::optional<int> number(const std::string &text, size_t *at) {
  size_t begin = *at;
  while (*at < text.size() && std::isdigit(static_cast<unsigned char>(text[*at])))
    ++*at;
  int value = 0;
  if (*at - begin > kMostDigits || !absl::SimpleAtoi(text.substr(begin, *at - begin), &value))
    return std::nullopt;
  return value;
}

/// Where the words of a schedule's text stand.
struct Places {
  struct Line {
    size_t number; // 1-based
    std::vector<size_t> columns;
    size_t end; // column behind the last word
  };
  std::string path;
  std::vector<Line> lines; // one a stage

  std::string operator()(int stage, size_t index) const {
    const Line &line = lines[stage];
    return at(line.number, index < line.columns.size() ? line.columns[index] : line.end);
  }
  std::string at(size_t line, size_t column) const { return absl::StrCat(path, ":", line, ":", column, ": "); }
};

absl::Status parseLine(const std::vector<Word> &words, size_t number, Places *places, Order *order) {
  Places::Line &line = places->lines.emplace_back(Places::Line{number, {}, 1});
  std::vector<Unit> &units = order->emplace_back();
  for (const Word &word : words) {
    std::optional<Unit> unit = parseUnit(word.text);
    if (!unit)
      return absl::InvalidArgumentError(absl::StrCat(
          places->at(number, word.column),
          "expected F, B or W with a micro-batch, such as B3, or B3.1 of the second chunk, got ", word.text));
    units.push_back(*unit);
    line.columns.push_back(word.column);
    line.end = word.column + word.text.size();
  }
  return absl::OkStatus();
}

} // namespace

std::string print(const Unit &unit) {
  std::string name = nameOf(unit);
  return name.insert(1, std::to_string(unit.microBatch));
}

std::string nameOf(const Unit &unit) {
  const std::string kind(1, kLetters[int(unit.kind)]);
  return unit.chunk == 0 ? kind : absl::StrCat(kind, ".", unit.chunk);
}

std::optional<Unit> parseUnit(const std::string &text) {
  const size_t kind = text.empty() ? std::string::npos : std::string(kLetters).find(text[0]);
  if (kind == std::string::npos)
    return std::nullopt;
  size_t at = 1;
  std::optional<int> microBatch = number(text, &at), chunk = 0;
  if (at < text.size() && text[at] == '.')
    chunk = number(text, &++at);
  if (!microBatch || !chunk || at != text.size())
    return std::nullopt;
  return Unit{UnitKind(kind), *chunk, *microBatch};
}

std::optional<Unit> unitNamed(const std::string &name) {
  return name.empty() ? std::nullopt : parseUnit(std::string(name).insert(1, "0"));
}

absl::StatusOr<Schedule> parse(const std::string &text, const std::string &path, const Shape &shape) {
  if (absl::Status status = checkShape(shape); !status.ok())
    return status;
  Schedule schedule{shape, {}};
  Places places{path, {}};
  size_t number = 0;
  for (const auto &view : absl::StrSplit(text, '\n')) {
    std::vector<Word> words = wordsOf(std::string(view));
    ++number;
    if (words.empty())
      continue;
    if (int(schedule.order.size()) == shape.stages)
      return absl::InvalidArgumentError(absl::StrCat(places.at(number, words[0].column), "expected ", shape.stages,
                                                     " lines, one a stage, got another"));
    if (absl::Status status = parseLine(words, number, &places, &schedule.order); !status.ok())
      return status;
  }
  if (int(schedule.order.size()) < shape.stages)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected ", shape.stages, " lines, one a stage, got ", schedule.order.size()));
  if (absl::Status status = checkAt(schedule, places); !status.ok())
    return status;
  return schedule;
}

} // namespace weft::schedule
