// Passes of the precision phase.
#ifndef WEFT_COMPILER_PASSES_PRECISION_PASSES_H_
#define WEFT_COMPILER_PASSES_PRECISION_PASSES_H_

#include "mlir/Pass/Pass.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/precision/Passes.h.inc"

/// The type that an option names; an error at `graph` unless it is bf16 or f16.
mlir::FailureOr<mlir::Type> narrowType(ir::GraphOp graph, llvm::StringRef name);
} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_PRECISION_PASSES_H_
