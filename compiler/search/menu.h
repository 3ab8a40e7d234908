// Labels of blocks that were met, of which chains are put together: some copies have these, others those. That is near
// the best there is, long before all labels are looked at. For one thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_MENU_H_
#define WEFT_COMPILER_SEARCH_MENU_H_

#include <set>
#include <vector>

#include "compiler/search/assembly.h"
#include "compiler/search/sweep.h"

namespace weft::search {

/// Labels of each block of a chain, in order.
using ChainLabels = std::vector<std::vector<int>>;

class Menu {
public:
  /// Refers to its arguments.
  Menu(const Chain &chain, const std::vector<BlockClass> &classes, const std::vector<int> &classOf);

  /// The best labels of a sweep, the last one. All ways between states that some such labels went through are met.
  ChainLabels add(const Sweep &sweep);
  /// The fastest labels of what was met that have at most `limit` bytes and cost at most `most` for the weights of the
  /// last sweep; empty if there are none, or not enough effort.
  ChainLabels mix(const Sweep &sweep, int64_t limit, Cost most, Work &work) const;

private:
  struct Met {
    int in, out;
    Price price;
    std::vector<int> labels;
  };

  FrontierTable tableOf(size_t k) const;

  const Chain &chain_;
  const std::vector<BlockClass> &classes_;
  const std::vector<int> &classOf_;
  std::vector<std::set<int>> ins_, outs_; // of each class, the states that labels went through
  std::vector<std::vector<Met>> met_;
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_MENU_H_
