// Machine code for generated kernels.
#ifndef WEFT_COMPILER_CODEGEN_OBJECT_H_
#define WEFT_COMPILER_CODEGEN_OBJECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "ops/cell/cell.h"

namespace weft::compiler {

/// A shared object for x86-64 under Linux, in bytes, which needs no library. Each kernel is there for every level of
/// runtime/code/levels.h, as <symbol>_v3 and so on: see x86.h for its arguments. The same kernels give the same bytes.
/// Every kernel has to have loops (loops.h).
absl::StatusOr<std::string> hostObjectOf(llvm::ArrayRef<cell::KernelOp> kernels);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_OBJECT_H_
