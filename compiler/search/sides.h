// A labelling problem as its variables see it.
#ifndef WEFT_COMPILER_SEARCH_SIDES_H_
#define WEFT_COMPILER_SEARCH_SIDES_H_

#include <vector>

#include "compiler/search/labelling.h"

namespace weft::search {

/// A link as one of its variables sees it.
struct Side {
  const Link *link;
  bool first;
  int other() const { return first ? link->second : link->first; }
  const std::vector<int> &classOf() const { return first ? link->firstClass : link->secondClass; }
  const std::vector<int> &otherClassOf() const { return first ? link->secondClass : link->firstClass; }
  Price price(int mine, int others) const {
    return first ? link->price[mine * link->secondClasses + others] : link->price[others * link->secondClasses + mine];
  }
};

/// The links of each variable; `problem` outlives them.
inline std::vector<std::vector<Side>> sidesOf(const Labelling &problem) {
  std::vector<std::vector<Side>> sides(problem.own.size());
  for (const Link &link : problem.links) {
    sides[link.first].push_back({&link, true});
    sides[link.second].push_back({&link, false});
  }
  return sides;
}

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_SIDES_H_
