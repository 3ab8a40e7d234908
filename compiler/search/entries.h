// All entries of a table that is made of parts of others.
#ifndef WEFT_COMPILER_SEARCH_ENTRIES_H_
#define WEFT_COMPILER_SEARCH_ENTRIES_H_

#include <cstddef>
#include <vector>

namespace weft::search {

/// Calls `look(entry, bases)` for all entries of a table of so many classes a dimension, the last one fastest. The
/// entry of each part begins at its base, the sum of its steps, by dimension and class. A look that returns void.
template <typename Part, typename Look>
void forEachEntry(const std::vector<Part> &parts, const std::vector<int> &classes, Look look) {
  const size_t dims = classes.size(), width = parts.size();
  std::vector<int> counter(dims, 0);
  std::vector<size_t> bases((dims + 1) * width, 0); // sums of the steps of the first dimensions
  const auto sumFrom = [&](size_t dim) {
    for (size_t i = dim; i < dims; ++i) {
      for (size_t p = 0; p < width; ++p) {
        bases[(i + 1) * width + p] = bases[i * width + p] + parts[p].steps[i][counter[i]];
      }
    }
  };
  sumFrom(0);
  for (size_t entry = 0;; ++entry) {
    look(entry, bases.data() + dims * width);
    size_t dim = dims;
    while (dim > 0 && ++counter[dim - 1] == classes[dim - 1]) {
      counter[--dim] = 0;
    }
    if (dim == 0) {
      return;
    }
    sumFrom(dim - 1);
  }
}

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_ENTRIES_H_
