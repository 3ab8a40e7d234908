// Frontiers of blocks, put together along a chain. For one thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_ASSEMBLY_H_
#define WEFT_COMPILER_SEARCH_ASSEMBLY_H_

#include <vector>

#include "compiler/search/elimination.h"

namespace weft::search {

/// What a class of blocks can take for each pair of states at its borders, the one behind it fastest.
struct BlockFrontiers {
  int ins = 1, outs = 1;
  FrontierTable table;
  int64_t lost = 0; // by how many seconds its points can be worse than what there is
};

/// What is still to come costs at least, for some weights; what costs more than `most` in all is left out.
struct Ahead {
  Weights weights;
  Cost most = kNever;
  std::vector<std::vector<Cost>> costs; // before a place, in a state
};

class Assembly {
public:
  /// Of blocks of the classes `classOf`, in order. `cap` points a state at most. Refers to its arguments.
  Assembly(const std::vector<BlockFrontiers> &classes, const std::vector<int> &classOf, const std::vector<Ahead> &ahead,
           size_t cap, Work &work);

  /// There was enough effort.
  bool isComplete() const { return complete_; }
  /// Of the whole chain.
  const Frontier &points() const { return before_.back()[0]; }
  /// By how many seconds they can be worse than what there is.
  int64_t lost() const { return lost_; }

  /// What each block has for a point of the chain.
  struct Step {
    int in, out;
    Price point;
  };
  std::vector<Step> stepsTo(Price point) const;

private:
  bool add(size_t place, const std::vector<Ahead> &ahead, size_t cap, Work &work);
  Step last(size_t place, int out, Price sought) const;

  const std::vector<BlockFrontiers> &classes_;
  const std::vector<int> &classOf_;
  std::vector<std::vector<std::vector<int>>> inputs_; // a class, a state behind it: states before it that lead there
  std::vector<std::vector<Frontier>> before_;         // a place, a state
  size_t points_ = 0;                                 // of all places
  int64_t lost_ = 0;
  bool complete_ = true;
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_ASSEMBLY_H_
