// Copies between the device and a tier beside the computation of the step section.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_TIER_STREAM_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_TIER_STREAM_H_

#include "compiler/analysis/machine.h"
#include "compiler/passes/schedule/communication_stream.h"

namespace weft::compiler {

/// The order of a step section with copies from and to tiers. What lies in a tier comes in parts: what one kernel uses
/// first, and what the next ones do, as long as a part has no more bytes than the largest that one kernel uses. Two
/// parts are on the device at a time:
///
///   tier       fetch 0   fetch 1          store 0   fetch 2   store 1   fetch 3
///   compute                      update 0           update 1            update 2
///
/// The stream of the tier has this order, so that fetch 2 finds the bytes free that store 0 has taken away. Fetch 0
/// begins when what is left of the last micro-batch takes as long as the first two fetches.
class TierStream {
public:
  /// `work` is the section in the order of the compute stream, `micro` what comes before it, as the last micro-batch is
  /// done; `machine` says what both take.
  TierStream(llvm::ArrayRef<mlir::Operation *> work, llvm::ArrayRef<mlir::Operation *> micro, const CostModel &machine);

  /// The section in the order of actors; of the copies of a part the first alone.
  llvm::ArrayRef<mlir::Operation *> order() const { return order_; }
  /// The copies of a part, by the first of them; null for other work.
  const ActorWork *moveOf(mlir::Operation *first) const;
  /// Whether an op is the first that uses a part: what is before it does not wait for the part.
  bool beginsPart(mlir::Operation *op) const { return begins_.contains(op); }

private:
  struct Part;
  void add(const Part &part, bool fetches);

  llvm::SmallVector<mlir::Operation *> order_;
  std::vector<ActorWork> moves_;
  llvm::DenseMap<mlir::Operation *, size_t> moveAt_; // in moves_
  llvm::DenseSet<mlir::Operation *> begins_;
};

/// The begin section with copies, in such parts.
std::vector<ActorWork> withParts(llvm::ArrayRef<ActorWork> portions, llvm::ArrayRef<mlir::Operation *> moves,
                                 const CostModel &machine);

/// A unit of the micro-batch section with copies. What a layer uses is fetched when the unit comes to the layer before
/// it, and not earlier; what it leaves is stored behind it, and the second layer from there waits for that, so that the
/// bytes are free again.
std::vector<ActorWork> withMoves(std::vector<ActorWork> portions, llvm::ArrayRef<task::MoveKernel> moves);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_TIER_STREAM_H_
