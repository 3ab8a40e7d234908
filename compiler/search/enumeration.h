// What all labels of a small problem take, one after another: the truth that the solver is tested with. It shares
// nothing with the solver but the problem.
#ifndef WEFT_COMPILER_SEARCH_ENUMERATION_H_
#define WEFT_COMPILER_SEARCH_ENUMERATION_H_

#include <vector>

#include "compiler/search/labelling.h"

namespace weft::search {

/// What all labels take that may be.
std::vector<Price> enumerate(const Labelling &problem);

/// What the best of `all` take with at most `limit` bytes; kImpossible if there are none.
Price fastestOf(const std::vector<Price> &all, int64_t limit);

/// The fewest bytes of `all`, kNever if there are none.
int64_t fewestBytesOf(const std::vector<Price> &all);

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_ENUMERATION_H_
