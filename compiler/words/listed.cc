#include "compiler/words/listed.h"

#include <cstddef>

namespace weft {
namespace {

// "h.10" of "h.9"; empty: the name ends in no number.
std::string NextOf(const std::string& name) {
  const size_t last = name.find_last_not_of("0123456789");
  const size_t begin = last == std::string::npos ? 0 : last + 1;
  constexpr size_t kMostDigits = 9;
  if (begin == name.size() || name.size() - begin > kMostDigits) return "";
  return name.substr(0, begin) + std::to_string(std::stol(name.substr(begin)) + 1);
}

}  // namespace

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    size_t last = i;
    while (last + 1 < names.size() && names[last + 1] == NextOf(names[last])) ++last;
    text += (text.empty() ? "" : ", ") + names[i];
    if (last < i + 2) continue;
    text += " to " + names[last];
    i = last;
  }
  return text;
}

}  // namespace weft
