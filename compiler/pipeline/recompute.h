// From what a job asks of recompute to a policy for every layer.
#ifndef WEFT_COMPILER_PIPELINE_RECOMPUTE_H_
#define WEFT_COMPILER_PIPELINE_RECOMPUTE_H_

#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

/// The policy of every layer of a module that `box` has run on, in the order of the layers; none of them AUTO. For
/// AUTO it tries: compiles clones of the module up to `memory` and compares each stage's arena with `memoryBytes`, the
/// memory of a device (0: no limit). Where not even FULL everywhere fits, that is what it returns. Fails if a clone
/// does not compile. A scope that names no layer stays in the list, for the pass to refuse.
llvm::FailureOr<Recompute> resolveRecompute(mlir::ModuleOp module, const Job &job, int64_t memoryBytes);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_RECOMPUTE_H_
