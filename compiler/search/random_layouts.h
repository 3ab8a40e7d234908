// Random problems that look like layouts: ops on tensors over a mesh, whose labels are signatures of S(dim), B and P on
// each axis.
#ifndef WEFT_COMPILER_SEARCH_RANDOM_LAYOUTS_H_
#define WEFT_COMPILER_SEARCH_RANDOM_LAYOUTS_H_

#include <cstdint>

#include "compiler/search/labelling.h"

namespace weft::search {

/// Up to 8 parameters and ops on a mesh of 2 or 3 axes of 2 to 4 ranks, with at most `most` labellings.
Labelling randomLayouts(uint32_t seed, double most);

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_RANDOM_LAYOUTS_H_
