// Bucket elimination: the least cost of a labelling problem, one variable after another.
//
//   a ─ b ─ c      eliminate b: a table over a and c of the least that b can cost between them
//   a ────── c     eliminate a, then c: a number
//
// For one thread; fails never.
#ifndef WEFT_COMPILER_SEARCH_ELIMINATION_H_
#define WEFT_COMPILER_SEARCH_ELIMINATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "compiler/search/labelling.h"

namespace weft::search {

/// A cost that several variables have together, by classes of their labels, the first variable outermost.
struct Factor {
  std::vector<int> scope;
  std::vector<std::vector<int>> classOf; // of each label, for each variable of the scope
  std::vector<int> classes;              // how many
  std::vector<Cost> table;

  /// Where the scope has `variable`; its size where it has not.
  size_t at(int variable) const { return std::find(scope.begin(), scope.end(), variable) - scope.begin(); }

  Cost costOf(const std::vector<int> &labels) const {
    size_t entry = 0;
    for (size_t i = 0; i < scope.size(); ++i) {
      entry = entry * classes[i] + classOf[i][labels[scope[i]]];
    }
    return table[entry];
  }
};

/// Classes of a variable's labels that tell apart what each of several factors tells apart.
struct JointClasses {
  std::vector<int> of;    // of each label; -1: the label is not left
  std::vector<int> first; // the first label of each class
  int count() const { return int(first.size()); }
};

/// Eliminates all variables of a problem of which every variable has certain labels left. Refers to its arguments.
class Elimination {
public:
  Elimination(const Labelling &problem, const std::vector<std::vector<int>> &left, const Effort &effort);

  /// The lower bound; the least cost itself if nothing had to be split. Call once.
  Cost run();

  /// A variable whose costs were split into groups, -1 if there is none.
  int split() const { return split_; }
  /// Entries looked at.
  int64_t work() const { return work_; }

  /// The labels that the tables lead to; the best ones if nothing was split.
  std::vector<int> labels() const;

private:
  void add(Factor factor);
  // The variables that these factors have beside `v`, in order, and the classes that they tell apart.
  std::map<int, JointClasses> neighbours(int v, const std::vector<int> &factors) const;
  // Entries of the table that eliminating `v` from these factors makes, and that doing so looks at.
  double tableOf(int v, const std::vector<int> &factors) const;
  double entriesOf(int v) const;
  // The factors of `v` in groups whose tables are small enough. With one label left nothing is lost by that.
  std::vector<std::vector<int>> groupsOf(int v);
  // Makes one table of the factors of a group; the constant that is left if it has no other variable.
  Cost eliminate(int v, const std::vector<int> &group, bool withOwn, std::set<int> &touched);
  void fill(int v, const std::vector<int> &group, const std::map<int, JointClasses> &around, const JointClasses &own,
            const std::vector<Cost> &least, Factor &made);

  const std::vector<std::vector<int>> &left_;
  const Effort effort_;
  std::vector<std::vector<Cost>> own_;      // and what of eliminated variables depends on one variable alone
  std::vector<Factor> factors_;             // all that there ever were
  std::vector<std::vector<int>> factorsOf_; // a variable: those that still stand
  std::vector<std::vector<int>> met_;       // a variable: those that it was eliminated from
  std::vector<int> order_;
  int split_ = -1;
  int64_t work_ = 0;
};

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_ELIMINATION_H_
