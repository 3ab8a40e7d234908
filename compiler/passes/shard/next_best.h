// What each boxed value could have lain as instead, and what that costs, after Solver::solve().
//
//   copies of an op ─▶ one node each (fold) ─▶ for each boxed value and state: its producer has to make, or its readers
//   have to read, another state ─▶ the others follow (Solver::improveAround) ─▶ the cheapest
#ifndef WEFT_COMPILER_PASSES_SHARD_NEXT_BEST_H_
#define WEFT_COMPILER_PASSES_SHARD_NEXT_BEST_H_

#include <map>
#include <vector>

#include "compiler/analysis/next_best.h"
#include "compiler/passes/shard/solver.h"

namespace weft::compiler {

/// A problem with one node for all copies that have made one choice, and one value for all values that the same nodes
/// make and read. Any choices cost what they cost in the whole problem, if copies have them together; and it is as
/// large for a hundred layers as for five.
struct FoldedProblem {
  // In the order of the first copies. `operands` are what some copy reads, in no order.
  std::vector<SolverNode> nodes;
  std::vector<SolverValue> values;
  std::vector<int> copies; // of each node
  std::vector<int> nodeOf; // of each node of the whole problem
  std::vector<int> valueOf;
};

FoldedProblem fold(const std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values);

/// By value, and the state as which it is boxed: the cheapest that local search finds of the choices in which the value
/// is not made as it is, or none of the readers that want it in this state does. Copies change together, and each is
/// charged its share. Never less than the least that such choices cost; exact on chains of up to 16 ops to either side,
/// on small random graphs for nine boxes of ten, and at worst 1.8 times that least (next_best_test).
std::map<std::pair<int, ir::SbpState>, NextBest> nextBests(const std::vector<SolverNode> &nodes,
                                                           const std::vector<SolverValue> &values,
                                                           const plan::Spread &axis, const CostModel &machine);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_NEXT_BEST_H_
