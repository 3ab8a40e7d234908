#include "compiler/words/nearest.h"

#include <algorithm>

namespace weft {

int EditDistance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between beginnings: of two letters of `a` less, of one less, and this one.
  std::vector<int> older, last, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    older = std::move(last);
    last = std::move(row);
    row.assign(b.size() + 1, static_cast<int>(i));
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
    }
  }
  return row.back();
}

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string nearest;
  int fewest = 0;
  for (const std::string& candidate : known) {
    const int edits = EditDistance(word, candidate);
    const int most = std::max(1, static_cast<int>(std::max(word.size(), candidate.size())) / 3);
    if (edits > most || (!nearest.empty() && edits >= fewest)) continue;
    nearest = candidate;
    fewest = edits;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

}  // namespace weft
