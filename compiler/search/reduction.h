// Which labels no best solution needs, and a bound of what a solution costs. Pure functions; any thread; fail never.
#ifndef WEFT_COMPILER_SEARCH_REDUCTION_H_
#define WEFT_COMPILER_SEARCH_REDUCTION_H_

#include <vector>

#include "compiler/search/labelling.h"

namespace weft::search {

/// What is left of a problem.
struct Reduced {
  std::vector<std::vector<int>> left; // of each variable, labels of which a best solution can be made; not empty
  Labels best;                        // the best labels met on the way, and the bound
};

/// Moves costs between links and variables, so that all labels keep what they cost together while ever more of it is a
/// cost of one label alone, and of none: the bound (Kolmogorov, "Convergent tree-reweighted message passing", PAMI 28,
/// 2006, here in whole numbers). A label that alone costs more than a known solution goes; so does one that costs at
/// least as much as another whatever the neighbours have (Goldstein, "Efficient rotamer elimination", Biophysical
/// Journal 66, 1994).
Reduced reduce(const Labelling &problem);

/// Gives each variable the label that is best as the others are, until nothing changes.
void descend(const Labelling &problem, std::vector<int> &labels);

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_REDUCTION_H_
