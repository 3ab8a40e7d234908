// Two kernels of cells that become one.
#ifndef WEFT_COMPILER_PASSES_FUSE_JOIN_H_
#define WEFT_COMPILER_PASSES_FUSE_JOIN_H_

#include <optional>

#include "ops/cell/cell.h"
#include "runtime/plan/apart.h"

namespace weft::compiler {

/// A `cell.kernel` and the memory of its operands: buffers of which two are the same one if their numbers are.
struct Part {
  cell::KernelOp kernel;
  llvm::SmallVector<int> inputs, outputs;
};

/// What computes both, `first` and then `second`, which reads what `first` writes; at `builder`, under that name. Of
/// the outputs, those of `dropped` are in no memory. Nothing, and no kernel is made, if they have no common domain,
/// walk what passes between them differently, or would be walked in no rows: `why` is which.
std::optional<Part> joined(mlir::OpBuilder &builder, llvm::StringRef symbol, const Part &first, const Part &second,
                           llvm::ArrayRef<int> dropped, Apart &why);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_FUSE_JOIN_H_
