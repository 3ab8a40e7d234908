// Which ops of a labelling problem are copies of one another, such as the first projection of every layer.
#ifndef WEFT_COMPILER_PASSES_SHARD_COPIES_H_
#define WEFT_COMPILER_PASSES_SHARD_COPIES_H_

#include <vector>

#include "compiler/passes/shard/solver.h"

namespace weft::compiler {

/// The nodes in classes; each node is in one. Copies have equal candidates at equal cost, equal operands and results,
/// and neighbours that are equal in this sense, up to two steps away. So all inner layers of a model have the same
/// classes, however many there are, and the first and the last layer may have some of their own. A class is in program
/// order, and classes are in the order of their first nodes.
std::vector<std::vector<int>> copiesOf(const std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values);

/// What a box of this value costs depends on these numbers, and on its ops.
std::vector<double> moveKey(const SolverValue &value);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_COPIES_H_
