// Pareto frontiers of seconds and bytes. Pure functions.
#ifndef WEFT_COMPILER_SEARCH_FRONTIER_H_
#define WEFT_COMPILER_SEARCH_FRONTIER_H_

#include <cstddef>
#include <vector>

#include "compiler/search/labelling.h"

namespace weft::search {

/// Prices of which none takes as little as another in both: bytes rise, seconds fall.
using Frontier = std::vector<Price>;

/// Drops every price that another one replaces, and sorts the rest.
void keepUndominated(std::vector<Price> &prices);

/// Drops points until at most `most` are left, each of which had a point before it that has fewer bytes and not much
/// more seconds. How much more at most, in seconds.
int64_t coarsen(Frontier &frontier, size_t most);

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_FRONTIER_H_
