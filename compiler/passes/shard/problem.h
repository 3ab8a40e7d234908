// A labelling problem over one mesh axis: its nodes are ops, whose labels are the signatures of their sharding rules,
// and its cost is seconds a step.
//
//   %x ── SolverValue ──▶ einsum ── SolverValue ──▶ add        each einsum: S(0),B -> S(0)   2 ms
//                         SolverNode                SolverNode              B,S(1) -> S(1)   2 ms
//                                                                           B,B    -> B      4 ms
//
// A node costs what its op computes under the chosen signature. A value costs the boxes from the state that its
// producer makes to the states that its readers want.
#ifndef WEFT_COMPILER_PASSES_SHARD_PROBLEM_H_
#define WEFT_COMPILER_PASSES_SHARD_PROBLEM_H_

#include <vector>

#include "compiler/analysis/machine.h"
#include "ops/dialect/sharding_rule.h"

namespace weft::compiler {

/// One op: the signatures that are legal on this axis, and what each costs. The fields but `choice` are given.
struct SolverNode {
  std::vector<const ir::Signature *> candidates; // never empty
  std::vector<double> seconds;                   // one a candidate
  std::vector<int> operands;                     // value indices
  std::vector<int> results;
  std::vector<double> moves; // one an operand: how often a step boxes it, if it does; infinite: it may not be boxed
  double weight = 1;         // how often a step runs it
  int choice = 0;            // what is solved for: an index into candidates
};

/// One value: who makes it, who reads it.
struct SolverValue {
  int producer = -1; // the node that makes it; -1: none does, its state is `fixed`
  int result = 0;    // which of the producer's results it is
  ir::SbpState fixed;
  bool free = false;       // comes from another mesh: any state costs nothing
  bool keepSplit = false;  // made of parameters alone: a split is kept, where it can be
  bool keepState = false;  // of a micro-batch, or for the next step: the state as made is kept, where it can be
  bool overlapped = false; // a sum over the micro-batches: its reduction overlaps with the rest of the last backward
  double bytes = 0;        // of a tile, over the axes decided before
  double count = 1;        // how many values it stands for (next_best.h)
  // How often a rank holds a tile of it for all of a step: as it is made, as it is read, and of each other state as
  // which it is read.
  struct Held {
    double made = 0, read = 0, copy = 0;
  } held;
  struct Use {
    int node;
    int operand;
  };
  std::vector<Use> uses;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_PROBLEM_H_
