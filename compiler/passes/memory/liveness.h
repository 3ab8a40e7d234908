// When the buffers of a scheduled program hold something that is needed.
#ifndef WEFT_COMPILER_PASSES_MEMORY_LIVENESS_H_
#define WEFT_COMPILER_PASSES_MEMORY_LIVENESS_H_

#include "compiler/passes/memory/timeline.h"

namespace weft::compiler {

/// Disjoint spans of a timeline, ascending.
using Life = llvm::SmallVector<Span, 2>;

/// A buffer lives from the first to the last touch of what it holds for one micro-batch, whichever stream touches it,
/// in every execution that the plan permits; its life is that of all micro-batches together, so that a place in it is
/// free if no act of that place, for any micro-batch, finds the buffer in use. State lives always.
class Liveness {
public:
  Liveness(task::ProgramOp program, const Timeline &timeline);

  /// The life of a root buffer, aliases included; all of the timeline if nothing touches it.
  Life of(mlir::Value root) const { return ofMicroBatches(root, 0, 1); }
  /// Whether the buffer holds something of one micro-batch at a time.
  bool isOfMicroBatch(mlir::Value root) const;
  /// Whether another stream than that which computes touches it.
  bool isPassed(mlir::Value root) const;
  /// The life of what such a buffer holds for the micro-batches `first`, `first` + `step` and so on.
  Life ofMicroBatches(mlir::Value root, int64_t first, int64_t step) const;

  /// Whether the lives of two buffers, each of the micro-batches `first`, `first` + `step` and so on, or of one that
  /// lives once a step, certainly lie one behind the other, although their spans may meet: what is sent away comes back
  /// as something else, and a stream reduces one gradient after another.
  struct Part {
    mlir::Value root;
    int64_t first = 0, step = 1;
  };
  bool isApart(Part a, Part b) const;

  /// When it is touched first for a micro-batch. Of something that nobody touches, the beginning.
  Moment startOf(mlir::Value root, int64_t microBatch) const;
  /// Whether what it holds passes from one unit of a micro-batch to another.
  bool isKept(mlir::Value root) const;

private:
  // How a root's bytes are used.
  struct Use {
    llvm::SmallVector<std::pair<int64_t, Span>, 2> sections; // by the compute stream: of each section the span
    llvm::SmallVector<size_t, 2> actors;                     // of all streams
    llvm::SmallVector<size_t, 1> others;                     // of those that do not compute
    bool once = false;                                       // touched by a section that comes once a step, or a metric
    bool carried = false;                                    // summed over the micro-batches
    bool metric = false;
  };
  void addUses(task::ProgramOp program);
  // All touches for one micro-batch, or from one to another.
  std::pair<Moment, Moment> hull(const Use &use, int64_t firstMicroBatch, int64_t lastMicroBatch) const;

  const Timeline &timeline_;
  int64_t microBatches_ = 1;
  llvm::DenseMap<mlir::Value, Use> uses_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_MEMORY_LIVENESS_H_
