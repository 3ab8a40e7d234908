// Collectives of gradients in bundles, beside the backward.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_BUCKETS_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_BUCKETS_H_

#include "compiler/passes/schedule/communication_stream.h"

namespace weft::compiler {

/// Bytes that a bundle of gradients has at most, if one gradient alone is not more: few enough that the first is sent
/// long before the backward ends, many enough that latency does not count. As of PyTorch's DistributedDataParallel
/// (bucket_cap_mb; Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB 2020).
inline constexpr int64_t kBucketBytes = 25 << 20;
/// Of the first bundle, so that communication begins early (kDefaultFirstBucketBytes there).
inline constexpr int64_t kFirstBucketBytes = 1 << 20;

/// Whether a collective sums over ranks.
bool isReduction(task::CollectiveOp op);
/// Whether an op is of a backward, or of the part of a split one that makes gradients of weights.
bool isBackward(mlir::Operation *op);

/// What the step section's collectives become.
struct StepCollectives {
  /// Of gradients, over the same axes, in the order in which the last backward completes them: each a bundle.
  std::vector<llvm::SmallVector<task::CollectiveOp>> bundles;
  /// Whether all of the section's collectives, the bundles first, go to the communication stream.
  bool overlap = false;
  /// Where the communication stream has what may overtake a collective of the computation: that one's result, which
  /// comes first.
  llvm::DenseMap<mlir::Operation *, mlir::Value> after;

  llvm::SmallVector<mlir::Value, 1> afterOf(mlir::Operation *op) const {
    mlir::Value value = after.lookup(op);
    return value ? llvm::SmallVector<mlir::Value, 1>{value} : llvm::SmallVector<mlir::Value, 1>();
  }
};

/// Bundles the reductions of what backward units make. `micro` is the work of the micro-batch section in the order in
/// which the compute stream does it for the last micro-batch, `step` the step section's. Ranks must issue collectives
/// over a common mesh axis in one order: where one of the step section could overtake one of the micro-batch section
/// on the compute stream, it comes last, behind bundles that wait for that one, or waits for its result. Where the
/// communication stream has collectives of the other sections (communication_stream.h) it has those of this one too.
StepCollectives bundle(task::ProgramOp program, llvm::ArrayRef<mlir::Operation *> micro,
                       llvm::ArrayRef<mlir::Operation *> step, const CommunicationStream &stream);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_BUCKETS_H_
