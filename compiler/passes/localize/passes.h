// Passes of the localize phase.
#ifndef WEFT_COMPILER_PASSES_LOCALIZE_PASSES_H_
#define WEFT_COMPILER_PASSES_LOCALIZE_PASSES_H_

#include "compiler/dialect/task/task.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft::compiler {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/localize/Passes.h.inc"
} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_LOCALIZE_PASSES_H_
