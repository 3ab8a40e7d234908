// What the compute stream does after the micro-batches, while gradients are reduced beside it.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_STEP_ORDER_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_STEP_ORDER_H_

#include "compiler/passes/schedule/buckets.h"

namespace weft::compiler {

/// The step section, ordered.
struct StepOrder {
  std::vector<mlir::Operation *> work;
  /// Gathers that are one operation where the first of them is.
  std::vector<llvm::SmallVector<task::CollectiveOp>> gathers;
};

/// The work of the step section in the order in which the communication stream completes what it reads: squares of the
/// first bundle's gradients are summed while the second is reduced, and a metric whose reduction comes after all
/// bundles holds up nothing. What waits for another stage comes last, so that stages never wait for each other in a
/// circle. What depends on one another stays in order, and so do the collectives. Gathers over the same axes that
/// follow one another, and of which none needs another, are bundles of at most kBucketBytes: such as those of what each
/// rank has updated a share of, if that costs less than that all update all of it. As it is if collectives are on the
/// compute stream.
StepOrder byCompletion(task::ProgramOp program, const StepCollectives &collectives,
                       llvm::ArrayRef<mlir::Operation *> step);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_STEP_ORDER_H_
