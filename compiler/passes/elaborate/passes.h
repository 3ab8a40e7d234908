// From a model file to one `weft.graph` in which every shape is static.
#ifndef WEFT_COMPILER_PASSES_ELABORATE_PASSES_H_
#define WEFT_COMPILER_PASSES_ELABORATE_PASSES_H_

#include "compiler/dialect/model/model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft::compiler {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/elaborate/Passes.h.inc"

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_ELABORATE_PASSES_H_
