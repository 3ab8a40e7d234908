// What the copies of a block can take, by the states at their two borders. For one thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_BLOCK_CLASS_H_
#define WEFT_COMPILER_SEARCH_BLOCK_CLASS_H_

#include <memory>
#include <vector>

#include "compiler/search/chain.h"
#include "compiler/search/elimination.h"

namespace weft::search {

/// A class of blocks. A state of a border is a joint label of its variables, the first one outermost; tables over both
/// borders have the state of `out` fastest.
class BlockClass {
public:
  BlockClass(const Block &block, int64_t table);

  int ins() const { return ins_; }
  int outs() const { return outs_; }

  /// The least cost for each pair of states; a lower bound if there is an open case.
  std::vector<Cost> costs(Weights weights, Work &work);
  /// Labels that `costs` for these weights, the last ones asked for, led to.
  std::vector<int> labels(int in, int out) const;

  /// Cases divide the problem by labels of some variables. An open one has tables that are too large. The least cost of
  /// an open case and of all others, if all else costs so much for each pair of states.
  struct Least {
    Cost open = kNever, closed = kNever;
  };
  Least least(const std::vector<Cost> &around) const;
  bool isExact() const;
  /// Divides the open case that costs least.
  void divide(const std::vector<Cost> &around);
  /// Drops cases that cost more than `most`, or never may be.
  void drop(const std::vector<Cost> &around, Cost most);

  /// Drops labels with which all costs more than `most`. After `costs`.
  void shrink(const std::vector<Cost> &around, Cost most, Work &work);

  /// Leaves no frontiers, and no completions.
  void clear();
  /// Rules out what costs more than `most`. After `costs`.
  void complete(const std::vector<Cost> &around, Cost most, Work &work);
  /// A frontier for each pair of states, of at most `cap` points each. Check `isComplete`; only if it is exact.
  FrontierTable frontiers(size_t cap, Work &work);
  bool isComplete() const;
  int64_t lost() const;
  /// Labels for a point of a frontier.
  std::vector<int> labels(int in, int out, Price sought) const;

private:
  struct Case {
    Elimination elimination;
    std::vector<int> entryOf; // of each pair of states the entry of the border's table, -1: none
    Weights weights{0, 0};    // of `inside`
    std::vector<std::vector<Cost>> inside;
    Frontiers frontiers;

    Cost least(const std::vector<Cost> &around) const;
    std::vector<Cost> byEntry(const std::vector<Cost> &around) const;
  };

  std::unique_ptr<Case> caseOf(std::vector<std::vector<int>> left) const;
  // A state of one side as a part of an entry of the border's table. The number of the entry is the sum of both parts':
  // variables that both sides have count in that of `in`, and have to have the same labels.
  struct Part {
    int entry = -1; // -1: there is no entry with this state
    std::vector<int> shared;
  };
  std::vector<Part> partsOf(bool isIn, const Factor &border) const;
  // Sets the labels of one side's variables; false if one of them, unless it has -1, gets another label.
  bool set(const std::vector<int> &variables, int state, std::vector<int> &labels) const;
  std::vector<int> atBorder(int in, int out) const;

  const Block &block_;
  const int64_t table_;
  std::vector<int> border_; // variables, each once
  int ins_ = 1, outs_ = 1;
  std::vector<std::unique_ptr<Case>> cases_;
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_BLOCK_CLASS_H_
