// The types that precision narrows to.
#ifndef WEFT_COMPILER_PASSES_PRECISION_NARROW_TYPE_H_
#define WEFT_COMPILER_PASSES_PRECISION_NARROW_TYPE_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// The type that an option names; an error at `graph` unless it is bf16 or f16.
mlir::FailureOr<mlir::Type> narrowType(ir::GraphOp graph, StringRef name);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_PRECISION_NARROW_TYPE_H_
