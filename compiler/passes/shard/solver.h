// Chooses a signature for each op over one mesh axis (problem.h).
#ifndef WEFT_COMPILER_PASSES_SHARD_SOLVER_H_
#define WEFT_COMPILER_PASSES_SHARD_SOLVER_H_

#include <vector>

#include "compiler/passes/shard/box_costs.h"

namespace weft::compiler {

/// A local search by single ops, by paths, and by regions of classes: all copies of an op (copies.h) change together,
/// so that what is decided for a layer does not depend on how many layers there are. Deterministic; exact on chains, on
/// small random graphs 0.6 % above the optimum on average and 34 % at worst (solver_test). Nodes are in program order.
/// Refers to the problem that it is given, which must outlive it; one thread.
class Solver {
public:
  Solver(std::vector<SolverNode> &nodes, const std::vector<SolverValue> &values, const plan::Spread &axis,
         const CostModel &machine);

  /// Sets every node's `choice`.
  void solve();

  /// The same from the present choices on, instead of from operands as they come.
  void refine();

  /// Leaves a node these of its candidates, ascending, and gives it the first of them if there is one.
  void allow(int node, std::vector<int> candidates);
  const std::vector<int> &allowed(int node) const { return allowed_[node]; }

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
    double fastest = 0; // seconds of the fastest candidate of each
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
  double excessOf(const Copies &copies) const;
  double excess() const;
  bool tryRegion(int start, int candidate, double &left);

  std::vector<SolverNode> &nodes_;
  const std::vector<SolverValue> &values_;
  plan::Spread axis_;
  const CostModel &machine_;
  BoxCosts boxes_;
  std::vector<std::vector<int>> allowed_; // of each node: its candidates
  std::vector<std::vector<int>> touched_; // by each node: values whose boxes depend on its choice
  std::vector<Copies> copies_;
  // For improveAround(): the paths, of each node which one it is on and where, and its neighbours.
  std::vector<std::vector<int>> paths_;
  std::vector<std::pair<int, int>> places_;
  std::vector<std::vector<int>> around_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_SOLVER_H_
