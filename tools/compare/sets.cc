#include "tools/compare/sets.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::tools {
namespace {

// The parts of `text` between separators that stand in no brackets and no quotes.
std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    quoted ^= c == '"' && (i == 0 || text[i - 1] != '\\');
    depth += quoted ? 0 : int(c == '{' || c == '[') - int(c == '}' || c == ']');
    if (c == separator && depth <= 0 && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

} // namespace

Set parseSet(const std::string &text) {
  Set set = split(text, ' ');
  set.erase(std::remove(set.begin(), set.end(), ""), set.end());
  return set;
}

absl::StatusOr<std::vector<Set>> parseSweep(const std::string &text) {
  const size_t equals = text.find('=');
  std::vector<Set> sets;
  if (equals != std::string::npos && equals > 0) {
    for (const std::string &value : split(text.substr(equals + 1), ',')) {
      sets.push_back({absl::StrCat(text.substr(0, equals), "=", value)});
    }
  }
  const bool empty = std::any_of(sets.begin(), sets.end(), [](const Set &set) { return set[0].back() == '='; });
  if (sets.empty() || empty) {
    return absl::InvalidArgumentError(
        absl::StrCat("--sweep: expected KEY=VALUE,VALUE,... as in dist.tensor=1,2,4, got `", text, "`"));
  }
  return sets;
}

absl::StatusOr<std::vector<Set>> combine(const std::vector<Set> &sets, const std::vector<std::vector<Set>> &sweeps,
                                         size_t most) {
  std::vector<Set> all = sets.empty() ? std::vector<Set>{{}} : sets;
  for (const std::vector<Set> &sweep : sweeps) {
    if (all.size() * sweep.size() > most) {
      return absl::InvalidArgumentError(absl::StrCat("expected at most ", most, " combinations, got more"));
    }
    std::vector<Set> more;
    for (const Set &set : all) {
      for (const Set &change : sweep) {
        more.push_back(set);
        more.back().insert(more.back().end(), change.begin(), change.end());
      }
    }
    all = std::move(more);
  }
  std::vector<Set> once;
  for (Set &set : all) {
    if (std::find(once.begin(), once.end(), set) == once.end()) {
      once.push_back(std::move(set));
    }
  }
  return once;
}

std::string textOf(const Set &set) { return set.empty() ? "(the job)" : absl::StrJoin(set, " "); }

} // namespace weft::tools
