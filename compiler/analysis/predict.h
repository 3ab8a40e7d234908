// What a step will take, by the cost model.
#ifndef WEFT_COMPILER_ANALYSIS_PREDICT_H_
#define WEFT_COMPILER_ANALYSIS_PREDICT_H_

#include "compiler/analysis/machine.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {

/// The type of one rank's tile of `value`, without SBP.
mlir::RankedTensorType tileOf(mlir::Value value, ir::PlacementAttr placement);

/// What one run of `op` costs on one rank of a mesh, after `shard`.
ir::Cost tileCost(ir::WeftOpInterface op, ir::PlacementAttr placement);

/// FLOPs of the contractions of a step on whole tensors, micro-batches
/// included: the useful work, whatever the layout and whatever is computed
/// twice (phase "recompute"). 2 a multiply-add.
double modelFlops(ir::GraphOp graph);

/// Seconds, and bytes sent, that one rank spends in a step.
struct StepPrediction {
  double computeSeconds = 0;
  double communicationSeconds = 0;
  double communicationBytes = 0;
};

/// Predicts a step of a graph that `box` has run on: every op on its local
/// tile, every box by its primitive step.
StepPrediction predictStep(ir::GraphOp graph, const Machine &machine);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_PREDICT_H_
