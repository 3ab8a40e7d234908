// Elementary functions of generated kernels.
#ifndef WEFT_COMPILER_CODEGEN_MATH_H_
#define WEFT_COMPILER_CODEGEN_MATH_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace weft::compiler {

/// Makes exp, tanh, erf and log, of one number or of a vector, polynomials of multiplications and additions: MLIR's
/// approximations, whose errors codegen_test.cc bounds.
std::unique_ptr<mlir::Pass> createExpandMath();

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_MATH_H_
