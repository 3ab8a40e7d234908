// Which signature every op of a graph gets, axis by axis: the labelling problem of each axis, and who solves it.
#ifndef WEFT_COMPILER_PASSES_SHARD_INFERENCE_H_
#define WEFT_COMPILER_PASSES_SHARD_INFERENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/analysis/next_best.h"
#include "compiler/analysis/pins.h"
#include "compiler/analysis/section.h"
#include "compiler/passes/shard/solver.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

namespace weft::compiler {

/// What inference knows of one op.
struct OpInfo {
  mlir::Operation *op;
  int64_t stage;
  ir::ShardingRule rule;
  llvm::SmallVector<ir::Signature> signatures;
  std::optional<States> pinned;                       // of all results (parameters, to_global, accumulate)
  llvm::SmallBitVector free;                          // axes that the pins leave open
  llvm::SmallVector<const ir::Signature *> perAxis{}; // decided so far
};

/// How parameters may lie along some axes that split no input: as is best. Ops are then given signatures exactly
/// (exact.h), and memory counts.
struct FreeParameters {
  std::vector<std::string> axes; // "tensor"; none: every parameter lies as it is pinned
  double limit = 0;              // bytes that a rank may hold of what `held` says; 0: any number
  int64_t zeroStage = 0;         // what ZeRO will share out later, and among how many ranks
  int64_t zeroRanks = 1;
  double inFlight = 1; // micro-batches whose activations are kept at once
};

/// Whether keys of attention may go round (ShardingRule::Ring).
enum class Rings { Cheaper, Always, Never };

/// One graph, which must outlive it. For one thread.
class Inference {
public:
  Inference(ir::GraphOp graph, const CostModel &machine, bool broadcast, Rings rings, FreeParameters free);

  /// Decides all axes of all stages. Emits an error at an op that no signature fits.
  llvm::LogicalResult run();

  llvm::MutableArrayRef<OpInfo> ops() { return ops_; }

  /// The states that an op wants of an operand, on the axes decided so far.
  static States wanted(const OpInfo &info, unsigned operand);

  /// What a step takes as decided: all ops and boxes, one after the other.
  double seconds();

  /// Whether an axis of the sequence took something from those that are decided later, such as heads, which keys that
  /// go round would leave to them. On the last axis all has been weighed.
  bool mayGainFromRings();

  /// The states of a value as its producer makes it, on the axes decided so far.
  States produced(mlir::Value value) const;

  /// What `value` could have lain as instead, on the axes on which it is boxed to `states` for an op of its stage. None
  /// with free parameters.
  NextBests nextBestsOf(mlir::Value value, llvm::ArrayRef<ir::SbpState> states) const;

private:
  llvm::LogicalResult collect();
  void addOp(OpInfo &&info);
  mlir::RankedTensorType tile(mlir::RankedTensorType type, llvm::ArrayRef<ir::SbpState> states,
                              ir::PlacementAttr placement) const;
  bool isFree(mlir::Operation *op);
  double nodeSeconds(const OpInfo &info, llvm::ArrayRef<const ir::Signature *> perAxis, ir::PlacementAttr placement);
  bool honoursPins(OpInfo &info, const ir::Signature &s, size_t axis);
  bool leavesRoom(OpInfo &info, llvm::SmallVector<const ir::Signature *> &perAxis, ir::PlacementAttr placement);
  bool legal(OpInfo &info, const ir::Signature &s, size_t axis, ir::PlacementAttr placement);
  double boxRuns(mlir::Operation *op, mlir::Value operand);
  llvm::DenseSet<mlir::Value> termsToSplit(size_t axis);
  bool splitsInputs(size_t axis, int64_t dim) const;
  bool isOpen(mlir::StringAttr axis) const;
  SolverValue::Held heldOf(mlir::Value value) const;
  llvm::LogicalResult decide(int64_t stage, size_t axis);
  // Keeps what is faster: the present choices, or those from another start.
  void tryAsTheyFlow(Solver &solver, std::vector<SolverNode> &nodes, std::vector<SolverValue> values,
                     llvm::ArrayRef<int> flowing, const plan::Spread &group);

  ir::GraphOp graph_;
  Sections sections_;
  const CostModel &machine_;
  const bool broadcast_;
  const Rings rings_;
  const FreeParameters free_;
  llvm::SmallVector<States> inputs_;
  std::vector<OpInfo> ops_;
  llvm::DenseMap<mlir::Operation *, int> index_;
  llvm::DenseSet<mlir::Value> ofParameters_;
  struct Boxed {
    int64_t axis;
    ir::SbpState to;
    NextBest instead;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Boxed, 2>> boxed_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SHARD_INFERENCE_H_
