// The fastest signatures of a graph over one mesh axis within a memory, by compiler/search.
//
//   ops in blocks ─▶ Chain: a variable an op, whose labels are its signatures; one a value, whose labels are the states
//                    in which it is handed on; links are boxes ─▶ labels ─▶ choices
//
// A value is boxed once, from the state as made to the one that is handed on; a reader that wants another one boxes it
// for itself. (The truth is a little better: two such readers may share a box.) What reaches from one block to another
// passes through those between them.
#ifndef WEFT_COMPILER_PASSES_SHARD_EXACT_H_
#define WEFT_COMPILER_PASSES_SHARD_EXACT_H_

#include <vector>

#include "compiler/passes/shard/blocks.h"
#include "compiler/passes/shard/solver.h"

namespace weft::compiler {

/// Sets every node's `choice`: few seconds a step and at most `limit` bytes of what is held (SolverValue::held), 0 for
/// any number; the fewest bytes if none fit. A block that stands for copies gets the choices that most of them have.
/// False if no choices fit each other.
bool chooseExactly(std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values, const Blocks &blocks,
                   const plan::Spread &axis, const CostModel &machine, double limit);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_EXACT_H_
