// A labelling problem as its variables see it.
#ifndef WEFT_COMPILER_SEARCH_SIDES_H_
#define WEFT_COMPILER_SEARCH_SIDES_H_

#include <algorithm>
#include <vector>

#include "compiler/search/labelling.h"

namespace weft::search {

/// Costs add up to kNever at most.
inline Cost plus(Cost a, Cost b) { return std::min(kNever, a + b); }

/// A link as one of its variables sees it.
template <typename AnyLink> struct SideOf {
  AnyLink *link;
  bool first;
  int other() const { return first ? link->second : link->first; }
  const std::vector<int> &classOf() const { return first ? link->firstClass : link->secondClass; }
  const std::vector<int> &otherClassOf() const { return first ? link->secondClass : link->firstClass; }
  auto &cost(int mine, int others) const {
    return first ? link->cost[mine * link->secondClasses + others] : link->cost[others * link->secondClasses + mine];
  }
};

using Side = SideOf<const Link>;

/// The links of each variable; `links` outlive them.
template <typename AnyLink> std::vector<std::vector<SideOf<AnyLink>>> sidesOf(size_t variables, auto &links) {
  std::vector<std::vector<SideOf<AnyLink>>> sides(variables);
  for (AnyLink &link : links) {
    sides[link.first].push_back({&link, true});
    sides[link.second].push_back({&link, false});
  }
  return sides;
}

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_SIDES_H_
