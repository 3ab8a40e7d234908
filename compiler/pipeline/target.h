// What a graph asks of the machine and of the job.
#ifndef WEFT_COMPILER_PIPELINE_TARGET_H_
#define WEFT_COMPILER_PIPELINE_TARGET_H_

#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

/// Checks an elaborated module: its placements are on devices and ranks that exist, and what it minimizes has an
/// optimizer. Errors are printed at the op that asks.
llvm::LogicalResult checkTarget(mlir::ModuleOp module, const Job &job, const Cluster &cluster);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_TARGET_H_
