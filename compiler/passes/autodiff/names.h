// Parameters that a regular expression of a job fits.
#ifndef WEFT_COMPILER_PASSES_AUTODIFF_NAMES_H_
#define WEFT_COMPILER_PASSES_AUTODIFF_NAMES_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// Those of `parameters` whose whole name `pattern` fits, in their order. Fails, after an error that begins with `key`,
/// where `pattern` is no regular expression (POSIX, extended) or fits none.
llvm::FailureOr<llvm::SmallVector<ir::ParameterOp>>
fitting(llvm::StringRef key, llvm::StringRef pattern, llvm::ArrayRef<ir::ParameterOp> parameters, ir::GraphOp graph);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_AUTODIFF_NAMES_H_
