// Which ops run once a micro-batch and which once a step.
#ifndef WEFT_COMPILER_ANALYSIS_SECTION_H_
#define WEFT_COMPILER_ANALYSIS_SECTION_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// In a graph with `weft.accumulate`: what an accumulate depends on, and the
/// accumulate itself, runs once a micro-batch; everything else once a step,
/// after the micro-batches. Of the former, what depends on parameters and
/// constants alone, such as a cast or a gather, and constants of more than one
/// element, need not run again for each micro-batch: it runs once a step, before
/// them; unless its attribute `on_use` says otherwise. A constant of one element,
/// or a number made of such, does so where something of these reads it. An op that
/// varies by micro-batch, such as dropout, runs in each.
/// Without an accumulate, everything is the micro-batch section.
class Sections {
public:
  explicit Sections(ir::GraphOp graph);

  /// Once a step, before the micro-batches.
  bool isBegin(mlir::Operation *op) const { return begin_.contains(op); }
  /// Once a step, after the micro-batches.
  bool isStep(mlir::Operation *op) const { return accumulates_ && !micro_.contains(op); }
  bool isMicro(mlir::Operation *op) const { return !isBegin(op) && !isStep(op); }
  /// How often an op runs in a step of `microBatches`.
  double runs(mlir::Operation *op, double microBatches) const { return isMicro(op) ? microBatches : 1; }

private:
  bool accumulates_ = false;
  llvm::DenseSet<mlir::Operation *> micro_; // and begin
  llvm::DenseSet<mlir::Operation *> begin_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_SECTION_H_
