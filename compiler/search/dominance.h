// Which labels no good solution needs. A pure function; any thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_DOMINANCE_H_
#define WEFT_COMPILER_SEARCH_DOMINANCE_H_

#include <vector>

#include "compiler/search/labelling.h"

namespace weft::search {

/// What is left of the labels `left` of each variable, in order, and never none. A label goes if another one takes no
/// more seconds and no more bytes whatever the neighbours have (Goldstein, "Efficient rotamer elimination", Biophysical
/// Journal 66, 1994, for each resource). So every point of the frontier can be had with what is left. The variables of
/// `kept` keep all their labels: what is around the problem may ask for any.
std::vector<std::vector<int>> undominatedLabels(const Labelling &problem, std::vector<std::vector<int>> left,
                                                const std::vector<int> &kept);

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_DOMINANCE_H_
