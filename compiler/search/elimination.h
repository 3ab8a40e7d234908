// Bucket elimination (Dechter, "Bucket elimination", Artificial Intelligence 113, 1999): one variable after another is
// minimised over, and all that it touches becomes one table over its neighbours.
//
//   a ─ b ─ c      eliminate b: a table over a and c of the least that b can take between them
//   a ────── c     eliminate a, then c: a number
//
// The order and the tables' indices are found once. On them run: least weighted costs; what all else costs at least,
// given an entry of a table; and Pareto frontiers in place of costs. Where a table would be too large, the costs are
// eliminated in groups, each for itself, which gives a lower bound (mini-buckets: Dechter and Rish, JACM 50, 2003).
//
// For one thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_ELIMINATION_H_
#define WEFT_COMPILER_SEARCH_ELIMINATION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "compiler/search/frontier.h"
#include "compiler/search/labelling.h"
#include "compiler/search/weights.h"

namespace weft::search {

/// Classes of a variable's labels that tell apart what each of several factors tells apart.
struct JointClasses {
  std::vector<int> of;    // of each label; -1: the label is not left
  std::vector<int> first; // the first label of each class
  int count() const { return int(first.size()); }
};

/// What several variables have together, by classes of their labels, the first variable outermost.
struct Factor {
  std::vector<int> scope;
  std::vector<std::vector<int>> classOf; // of each label, for each variable of the scope; -1: the label is not left
  std::vector<int> classes;              // how many
  size_t entries = 1;

  /// Where the scope has `variable`; its size where it has not.
  size_t at(int variable) const;
  /// The entry of these labels, which are left.
  size_t entryOf(const std::vector<int> &labels) const;
};

/// What an entry of each factor's table costs at least, and all else if it is taken, for some weights. An entry is
/// dead, its `outside` is kNever, if together that is more than `most`.
struct Completion {
  Weights weights;
  Cost most = kNever;
  std::vector<std::vector<Cost>> inside, outside; // a factor, an entry; `outside` is empty for what is not made
};

/// A frontier for each entry of a table.
struct FrontierTable {
  std::vector<Price> points;
  std::vector<size_t> begin; // of an entry; one more than there are entries

  const Price *first(size_t entry) const { return points.data() + begin[entry]; }
  size_t count(size_t entry) const { return begin[entry + 1] - begin[entry]; }
};

/// Frontiers of each factor's entries, and what bounds them.
struct Frontiers {
  std::vector<Completion> completions; // points that these rule out are left out
  size_t cap = 0;                      // points of an entry at most
  std::vector<FrontierTable> tables;
  int64_t lost = 0;      // by how many seconds points at the border can be worse because of the cap
  bool complete = false; // there was enough effort
};

/// Entries looked at, and how many are to be at most. One takes about a nanosecond; a point of a frontier counts as
/// more.
inline constexpr int64_t kPointWork = 10;

/// Points that are kept at a time at most, of all tables: 128 MiB.
inline constexpr size_t kMostPoints = size_t(1) << 23;

struct Work {
  int64_t done = 0, most = 0;
  bool isOver() const { return done >= most; }
};

/// Eliminates all variables of a problem but `border`. Refers to the problem.
class Elimination {
public:
  /// Of every variable the labels `left` count. A table has `table` entries at most, but for that of the border.
  Elimination(const Labelling &problem, std::vector<std::vector<int>> left, const std::vector<int> &border,
              int64_t table);

  const std::vector<std::vector<int>> &left() const { return left_; }
  /// A variable whose costs were split into groups, so that all results are lower bounds; -1 if there is none.
  int split() const { return split_; }
  /// What the border's variables have together in the end.
  const Factor &border() const { return factors_.back(); }

  /// The least cost of each entry of each factor; the last one is the border's.
  std::vector<std::vector<Cost>> inside(Weights weights, Work &work) const;
  /// What all else costs at least, given an entry of a factor, if it is `border` for those of the border. `marginals`,
  /// if given, get what it costs at least to take a label of a variable.
  std::vector<std::vector<Cost>> outside(Weights weights, const std::vector<std::vector<Cost>> &inside,
                                         std::vector<Cost> border, Cost most, Work &work,
                                         std::vector<std::vector<Cost>> *marginals = nullptr) const;
  /// The labels that the tables lead to; `labels` has those of the border. The best ones if nothing was split.
  void follow(Weights weights, const std::vector<std::vector<Cost>> &inside, std::vector<int> &labels) const;

  /// Fills in the tables. Only if nothing was split.
  void run(Frontiers &frontiers, Work &work) const;
  /// Labels that have the price `sought`, a point of the border's frontier for the labels that it has in `labels`.
  void follow(const Frontiers &frontiers, Price sought, std::vector<int> &labels) const;

private:
  // How a factor's entry moves with a class of each neighbour, and with one of the variable that is eliminated.
  struct Part {
    int factor;
    std::vector<std::vector<size_t>> steps;
    std::vector<size_t> ownSteps;
  };
  // One elimination: of a variable, or of none, to put together what is left in the end.
  struct Bucket {
    int variable; // -1: none
    bool withOwn; // the variable's own price counts here
    JointClasses own;
    std::vector<Part> parts;
    int made; // the factor
  };
  friend class Combining;

  void order(const std::vector<int> &border, int64_t table);
  JointClasses join(int v, const std::vector<const std::vector<int> *> &classOf) const;
  // The variables that these factors have beside `v`, in order, and the classes that they tell apart.
  std::map<int, JointClasses> neighbours(int v, const std::vector<int> &factors) const;
  // Entries of the table that eliminating `v` from these factors makes, and that doing so looks at.
  double tableOf(int v, const std::vector<int> &factors) const;
  double entriesOf(int v) const;
  // The factors of `v` in groups whose tables are small enough. With one label left nothing is lost by that.
  std::vector<std::vector<int>> groupsOf(int v, int64_t table);
  void eliminate(int v, const std::vector<int> &group, bool withOwn, std::set<int> &touched);
  void add(Factor factor);

  void marginalsOfBorder(const std::vector<Cost> &inside, const std::vector<Cost> &outside,
                         std::vector<std::vector<Cost>> &marginals) const;
  // The least own cost of each class of a bucket's variable.
  std::vector<Cost> ownCosts(const Bucket &bucket, Weights weights) const;

  const Labelling &problem_;
  std::vector<std::vector<int>> left_;
  std::vector<Factor> factors_;           // what is given, then what was made
  std::vector<std::vector<Price>> given_; // of the first factors: the links, and the border's own prices
  std::vector<Bucket> buckets_;
  std::vector<std::vector<int>> factorsOf_; // a variable: those that still stand
  std::vector<int> whole_;                  // factors without variables
  int split_ = -1;
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_ELIMINATION_H_
