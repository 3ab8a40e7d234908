// What no layout beats: seconds of a step, and bytes of a rank, by one rank that gets the whole batch.
#ifndef WEFT_COMPILER_AUTO_BOUND_H_
#define WEFT_COMPILER_AUTO_BOUND_H_

#include <functional>

#include "absl/status/status.h"
#include "compiler/auto/choice.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/cost.h"

namespace weft::compiler {

/// One rank with the whole batch runs every kernel once, on whole tensors. Of N ranks each has at best an Nth of every
/// FLOP and byte; and each launches the kernels of its stage, for every micro-batch, however little they do. Cores that
/// ranks share are never more than busy. What a pipeline adds: compiler/auto/ramp.h. For one thread.
class Bound {
public:
  /// `asked` outlives this.
  Bound(const Job &asked, const Cluster &cluster);

  /// Compiles `parsed` for one rank. `jobOf`: the job of one stage of a choice. The error is that of Candidates.
  absl::Status set(mlir::ModuleOp parsed, const std::function<Job(const Choice &)> &jobOf);

  /// Seconds of a step; infinite: the model cannot be cut into so many chunks.
  double secondsOf(const Choice &choice) const;

  /// Whether the model has an optimizer, or other state, so that ZeRO has something to split.
  bool isTrained() const { return isTrained_; }

  /// Between which the model may be cut, in the order of the forward: layers, and what is beside them.
  const std::vector<std::string> &pieces() const { return pieces_; }

  /// What a rank holds of parameters and of the optimizer's state, on average over the stages, and of what forward and
  /// backward read, wherever parameters lie and if dimensions divide. What is more than the memory cannot fit.
  double bytesOf(const Choice &choice) const;

private:
  double coresOf(const Choice &choice) const;

  const Job &asked_;
  const Cluster cluster_;
  const plan::Machine machine_;
  // Of one rank and one micro-batch: seconds of kernels but for their launches, and of the launches of a micro-batch;
  // and the same of what a step has once.
  double work_s_ = 0, launches_s_ = 0, update_s_ = 0, once_s_ = 0;
  // What of the first two comes one after the other where backwards are split; the part that is forward.
  double there_s_ = 0, thereLaunches_s_ = 0, forward_ = 0;
  bool isTrained_ = false, isChain_ = false;
  std::vector<std::string> pieces_;
  double lasting_bytes_ = 0, copy_bytes_ = 0; // from step to step, and of what forward and backward read, at least
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_BOUND_H_
