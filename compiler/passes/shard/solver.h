// Chooses a signature for each op over one mesh axis: a labelling problem, whose nodes are ops, whose labels are the
// signatures of their sharding rules, and whose cost is seconds a step.
//
//   %x ── SolverValue ──▶ einsum ── SolverValue ──▶ add        each einsum: S(0),B -> S(0)   2 ms
//                         SolverNode                SolverNode              B,S(1) -> S(1)   2 ms
//                                                                           B,B    -> B      4 ms
//
// A node costs what its op computes under the chosen signature. A value costs the boxes from the state that its
// producer makes to the states that its readers want.
#ifndef WEFT_COMPILER_PASSES_SHARD_SOLVER_H_
#define WEFT_COMPILER_PASSES_SHARD_SOLVER_H_

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

/// What the search counts for a box of a value: its seconds, weighed by what they do not say.
double boxSeconds(const SolverValue &value, ir::SbpState from, ir::SbpState to, const plan::Spread &axis,
                  const CostModel &machine);

/// A local search by single ops, by paths, and by regions of classes: all copies of an op (copies.h) change together,
/// so that what is decided for a layer does not depend on how many layers there are. Deterministic; exact on chains, on
/// small random graphs 0.6 % above the optimum on average and 34 % at worst (solver_test). Nodes are in program order.
/// Refers to the problem that it is given, which must outlive it; one thread.
class Solver {
public:
  Solver(std::vector<SolverNode> &nodes, std::vector<SolverValue> &values, const plan::Spread &axis,
         const CostModel &machine);

  /// Sets every node's `choice`.
  void solve();

  /// Seconds a step under the present choices.
  double total() const;

  /// What depends on the choices of these nodes, in seconds a step.
  double secondsAround(const std::vector<int> &nodes) const { return aroundAll(nodes, valuesAround(nodes)); }

  /// Improves the present choices from these nodes on: they and what follows them, each once, as long as that costs
  /// nothing, then stretches of the paths through them; `thoroughly`: also with each other candidate of a node near by,
  /// if those are few. `total` never gets more.
  void improveAround(const std::vector<int> &nodes, bool thoroughly);

private:
  ir::SbpState stateOf(const SolverValue &value) const;
  double valueSeconds(int value) const;
  double around(int node) const;
  bool improve(int node);
  double improve(int node, bool orEqual);
  std::vector<int> neighboursOf(int node) const;
  double follow(const std::vector<int> &nodes, std::vector<std::pair<int, int>> &undo, int most);
  bool tryAround(int node, int candidate);
  void prepare();
  bool improveStretch(int node);
  void sweep();
  void descend();
  std::vector<std::vector<int>> paths() const; // each node on one
  int link(const std::vector<int> &path, size_t position) const;
  std::vector<int> valuesAround(const std::vector<int> &nodes) const;
  double aroundAll(const std::vector<int> &nodes, const std::vector<int> &values) const;
  bool improvePath(const std::vector<int> &path);
  // Ops that are copies of one another, the values that they read and make, and the classes of their neighbours.
  struct Copies {
    std::vector<int> nodes, values, neighbours;
    // Of values whose ops are copies, and whose readers are, one stands for all: it and how many they are. They cost
    // the same while each class of `touched`, those of all these ops, has one signature.
    std::vector<std::pair<int, int>> alike;
    std::vector<int> touched;
    bool isUniform = false; // all of `nodes` have one signature
  };
  void findCopies();
  void findAlike(const std::vector<int> &classOf);
  void setUniform(Copies &copies) const;
  double around(const Copies &copies) const;
  int candidatesOf(const Copies &copies) const { return int(nodes_[copies.nodes[0]].candidates.size()); }
  void choose(Copies &copies, int candidate);
  bool haveAll(const Copies &copies, int candidate) const;
  bool improveTogether(Copies &copies, double &present);
  bool tryRegion(int start, int candidate);

  std::vector<SolverNode> &nodes_;
  std::vector<SolverValue> &values_;
  plan::Spread axis_;
  const CostModel &machine_;
  std::vector<std::vector<int>> touched_; // by each node: values whose boxes depend on its choice
  std::vector<Copies> copies_;
  // For improveAround(): the paths, of each node which one it is on and where, and its neighbours.
  std::vector<std::vector<int>> paths_;
  std::vector<std::pair<int, int>> places_;
  std::vector<std::vector<int>> around_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_SOLVER_H_
