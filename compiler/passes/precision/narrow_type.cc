// What the passes' option `type` names.
#include "compiler/passes/precision/narrow_type.h"

namespace weft::compiler {

mlir::FailureOr<mlir::Type> narrowType(ir::GraphOp graph, llvm::StringRef name) {
  if (name == "bf16") {
    return mlir::Type(mlir::BFloat16Type::get(graph.getContext()));
  }
  if (name == "f16") {
    return mlir::Type(mlir::Float16Type::get(graph.getContext()));
  }
  return graph.emitOpError() << "type: expected bf16 or f16, got " << name;
}

} // namespace weft::compiler
