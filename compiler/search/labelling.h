// The least cost of giving every variable one of its labels, where pairs of variables cost something together: a
// weighted constraint problem.
//
//   op a ──┐ link: what it costs to turn a's result            labels of an op: its SBP signatures
//   op b ──┴─ op c   into what c wants, by the states alone    own cost: seconds of its kernel
//
// First labels that no best solution needs are dropped (reduction.h). Then one variable after another is eliminated
// (Dechter, "Bucket elimination", Artificial Intelligence 113, 1999; elimination.h): all that a variable touches
// becomes one table over its neighbours. Where that table would be too large, the costs are eliminated in groups, each
// for itself, which gives a lower bound (mini-buckets: Dechter and Rish, JACM 50, 2003); branching on such a variable
// closes the gap. Layers of a network hang together by few values, so that their tables stay small. Plain values; no
// state is kept; any thread. The result depends on nothing but the problem and the effort.
#ifndef WEFT_COMPILER_SEARCH_LABELLING_H_
#define WEFT_COMPILER_SEARCH_LABELLING_H_

#include <cstdint>
#include <vector>

namespace weft::search {

/// Costs are whole numbers, so that sums do not depend on their order: picoseconds, for example.
using Cost = int64_t;

/// What may not be. All costs of a problem that may be add up to less.
inline constexpr Cost kNever = Cost(1) << 60;

/// What two variables cost together. It depends on a class of each one's labels only, so that tables stay small: of an
/// op with 49 signatures the result has perhaps 9 states.
struct Link {
  int first = 0, second = 0;    // variables, not the same
  std::vector<int> firstClass;  // of each label, from 0
  std::vector<int> secondClass; // likewise
  int secondClasses = 0;        // how many
  std::vector<Cost> cost;       // of class i and class j at i * secondClasses + j; not below 0
};

struct Labelling {
  std::vector<std::vector<Cost>> own; // a variable, a label: not below 0; every variable has a label
  std::vector<Link> links;
};

struct Effort {
  int64_t table = 1 << 20;    // entries of one table at most
  int64_t work = 200'000'000; // entries looked at, after which no further branch is begun: about a second of a core
};

struct Labels {
  std::vector<int> labels; // one a variable
  Cost cost = 0;           // of these labels; kNever if the problem has no solution, or none was found
  Cost bound = 0;          // no labels cost less; equal to `cost` if they are the best
};

/// What `labels` cost.
Cost costOf(const Labelling &problem, const std::vector<int> &labels);

/// The best labels, or with too little effort good ones and a bound.
Labels solve(const Labelling &problem, const Effort &effort = {});

} // namespace weft::search

#endif // WEFT_COMPILER_SEARCH_LABELLING_H_
