// What the compute stream does after the micro-batches, while gradients are reduced beside it.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_STEP_ORDER_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_STEP_ORDER_H_

#include "compiler/passes/schedule/buckets.h"

namespace weft::compiler {

/// The step section, ordered.
struct StepOrder {
  std::vector<mlir::Operation *> work;
  /// Collectives that are one operation where the first of them is.
  std::vector<llvm::SmallVector<task::CollectiveOp>> together;
};

/// Orders the work of the step section by when the communication stream completes what the work reads. Example: the
/// squares of the first bundle's gradients are summed while the second bundle is reduced.
/// - Work that depends on other work stays behind it, and collectives keep their order.
/// - Work that waits for another stage comes last, so that stages never wait for each other in a circle.
/// - Gathers that follow one another over the same axes become bundles of at most kBucketBytes, if none reads what
///   another makes, or what is fetched from a tier. Example: each rank has updated a share of each parameter, and all
///   shares are gathered.
/// - An optimizer's sums over the same axes become such bundles too, if none needs what another makes. Example: the
/// norms
///   of all parameters.
/// Without collectives on the communication stream the order stays as it is.
StepOrder byCompletion(task::ProgramOp program, const StepCollectives &collectives,
                       llvm::ArrayRef<mlir::Operation *> step);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_STEP_ORDER_H_
