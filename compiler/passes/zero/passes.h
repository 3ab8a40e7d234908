// Passes of the zero phase.
#ifndef WEFT_COMPILER_PASSES_ZERO_PASSES_H_
#define WEFT_COMPILER_PASSES_ZERO_PASSES_H_

#include "mlir/Pass/Pass.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/zero/Passes.h.inc"
} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_ZERO_PASSES_H_
