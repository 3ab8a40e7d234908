// Least costs along a chain of blocks: one sweep forward, one backward. For one thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_SWEEP_H_
#define WEFT_COMPILER_SEARCH_SWEEP_H_

#include <vector>

#include "compiler/search/block_class.h"

namespace weft::search {

class Sweep {
public:
  /// Of blocks of the classes `classOf`, in order.
  Sweep(std::vector<BlockClass> &classes, const std::vector<int> &classOf, Weights weights, Work &work);

  Weights weights() const { return weights_; }
  /// Of all labels that are left; a lower bound if a class has an open case.
  Cost least() const { return after_[0][0]; }
  /// What is still to come costs at least: a place, a state before it.
  const std::vector<std::vector<Cost>> &after() const { return after_; }
  /// What all else costs at least for each pair of states of a class, at the place where that is least.
  std::vector<Cost> around(int k) const;
  /// States that the best labels go through, before each place and in the end.
  std::vector<int> states() const;

private:
  void pass(size_t place, bool forward);

  const std::vector<int> &classOf_;
  const Weights weights_;
  std::vector<int> ins_, outs_;                   // of each class
  std::vector<std::vector<Cost>> costs_;          // a class, a pair of states
  std::vector<std::vector<Cost>> before_, after_; // a place, a state
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_SWEEP_H_
