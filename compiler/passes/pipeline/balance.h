// Cutting a list into parts of equal weight.
#ifndef WEFT_COMPILER_PASSES_PIPELINE_BALANCE_H_
#define WEFT_COMPILER_PASSES_PIPELINE_BALANCE_H_

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace weft::compiler {

/// Where each of `parts` contiguous, non-empty parts of `weights` begins, such that the heaviest part is as light as
/// can be and, among such cuts, the sum of squares is least. There are at least as many weights as parts.
llvm::SmallVector<size_t> balance(llvm::ArrayRef<double> weights, size_t parts);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_PIPELINE_BALANCE_H_
