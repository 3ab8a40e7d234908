// Passes of the fuse phase.
#ifndef WEFT_COMPILER_PASSES_FUSE_PASSES_H_
#define WEFT_COMPILER_PASSES_FUSE_PASSES_H_

#include "compiler/dialect/task/task.h"
#include "mlir/Pass/Pass.h"

namespace weft::compiler {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/fuse/Passes.h.inc"
} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_FUSE_PASSES_H_
