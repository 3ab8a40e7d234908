// Code for NVIDIA's GPUs, of generated kernels.
#ifndef WEFT_COMPILER_CODEGEN_PTX_H_
#define WEFT_COMPILER_CODEGEN_PTX_H_

#include <string>

#include "absl/status/statusor.h"
#include "ops/cell/cell.h"

namespace weft::compiler {

/// PTX of code::kGpuProcessor, as text, which GPUs' drivers translate for theirs. See nvidia.h for a kernel's argument.
/// It calls no library. The same kernels give the same text. Every kernel has to have loops (loops.h).
absl::StatusOr<std::string> gpuCodeOf(llvm::ArrayRef<cell::KernelOp> kernels);

} // namespace weft::compiler

#endif // WEFT_COMPILER_CODEGEN_PTX_H_
