// Drops labels of a chain that cannot be of use, before any large table is made. Pure functions; any thread; fail
// never.
#ifndef WEFT_COMPILER_SEARCH_NARROW_H_
#define WEFT_COMPILER_SEARCH_NARROW_H_

#include <vector>

#include "compiler/search/chain.h"
#include "compiler/search/elimination.h"

namespace weft::search {

/// What is left of a chain.
struct Narrowed {
  Chain chain;                                     // with fewer labels
  std::vector<std::vector<std::vector<int>>> left; // a block, a variable, a label: its number before
  Solution known;                                  // labels in their numbers before, and what is known so far
};

/// The blocks of a chain, in order.
std::vector<int> placesOf(const Chain &chain);

/// What labels can take at most.
Price mostOf(const Chain &chain);

/// All of it.
Narrowed unnarrowed(const Chain &chain);

/// Looks for labels that fit, and for a bound, by messages (relaxation.h). What is left has all labels that fit and are
/// faster than the known ones; if none are known that fit, all that have at most as many bytes as the known ones.
Narrowed narrow(const Chain &chain, int64_t limit, Work &work);

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_NARROW_H_
