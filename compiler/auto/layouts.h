// Where the parameters of a model may lie instead of where its `sbp(...)` says.
#ifndef WEFT_COMPILER_AUTO_LAYOUTS_H_
#define WEFT_COMPILER_AUTO_LAYOUTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline/candidates.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft::compiler {

/// Pins for every parameter but those that the model calls `pinned`, along the tensor axis: by the exact search of
/// `shard` (compiler/passes/shard/exact.h), all layers of a repeat alike. For one thread.
class Layouts {
public:
  /// `shallow` is a model with few layers of each repeat (compiler/analysis/repeats.h); it and `cluster` outlive this.
  Layouts(mlir::ModuleOp shallow, const Cluster &cluster)
      : shallow_(shallow), cluster_(cluster), candidates_(shallow, cluster) {}

  /// For the whole model on one stage: `job` is resolved, with paths as seen from here, and without stages; its
  /// micro-batches are of as many sequences. Of a rank, what is held takes at most `limit` bytes if it can, with the
  /// activations of `inFlight` micro-batches. An error is the first of a phase.
  absl::StatusOr<std::vector<Pin>> find(const Job &job, double limit, double inFlight);

private:
  mlir::ModuleOp shallow_;
  const Cluster &cluster_;
  Candidates candidates_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_LAYOUTS_H_
