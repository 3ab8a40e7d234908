// From the `task` dialect to the plan: the only writer of plan.proto.
#ifndef WEFT_COMPILER_EMIT_EMIT_H_
#define WEFT_COMPILER_EMIT_EMIT_H_

#include "mlir/IR/BuiltinOps.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

/// Fills the stages, transfers, placements and metrics of `plan` from the
/// programs of `module`, which `memory` has given offsets. The header is the
/// caller's. Emits an error at the op and fails where something has no form in
/// a plan.
llvm::LogicalResult emitPlan(mlir::ModuleOp module, plan::Plan &plan);

} // namespace weft::compiler

#endif // WEFT_COMPILER_EMIT_EMIT_H_
