// From what a job asks of recompute to a policy for every layer.
#ifndef WEFT_COMPILER_PIPELINE_RECOMPUTE_H_
#define WEFT_COMPILER_PIPELINE_RECOMPUTE_H_

#include "compiler/pipeline/candidates.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

/// The policy of every layer of a module that `box` has run on, in the order of the layers; none of them AUTO. For
/// AUTO it tries: compiles variants with `candidates` and compares each stage's memory with `memoryBytes`, that of a
/// device (0: no limit). `hasTier`: the cluster has memory below the device, so that layers may keep there what they
/// keep if the job leaves it open. Where not even the least of all fits, FULL everywhere and below if that may be, that
/// is what it returns. A variant that does not compile is what it returns too: compiling it says why. A scope that
/// names no layer stays in the list, for the pass to refuse.
Recompute resolveRecompute(mlir::ModuleOp module, const Job &job, int64_t memoryBytes, bool hasTier,
                           Candidates &candidates);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_RECOMPUTE_H_
