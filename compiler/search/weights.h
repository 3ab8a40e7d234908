// Seconds and bytes as one number.
#ifndef WEFT_COMPILER_SEARCH_WEIGHTS_H_
#define WEFT_COMPILER_SEARCH_WEIGHTS_H_

#include <algorithm>

#include "compiler/search/labelling.h"

namespace weft::search {

/// Seconds and bytes, weighted. kNever: this may not be. What may be is so weighted that it adds up to less.
using Cost = int64_t;

inline Cost plus(Cost a, Cost b) { return std::min(kNever, a + b); }

/// How much a second and a byte weigh: Lagrange's multipliers, as whole numbers, so that nothing is rounded.
struct Weights {
  int64_t second = 1, byte = 0;

  Cost of(Price price) const { return price.may() ? price.seconds * second + price.bytes * byte : kNever; }
  bool operator==(const Weights &) const = default;
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_WEIGHTS_H_
