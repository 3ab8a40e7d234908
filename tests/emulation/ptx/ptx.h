// PTX on the host: what a driver would translate for its GPU is carried out as it is written.
//
// The instructions are those that LLVM makes of generated kernels (compiler/codegen/ptx.h); another one is an error.
// Source: "Parallel Thread Execution ISA", version 8.5, NVIDIA, 2024.
#ifndef WEFT_TESTS_EMULATION_PTX_PTX_H_
#define WEFT_TESTS_EMULATION_PTX_PTX_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/emulated_kernel.h"

namespace weft::ptx {

// Whether a module's image is PTX: text that begins with a comment or with its version.
bool IsText(const void* image);

// Kernels of `text`, under their names. A run's error says what no GPU would have let pass: a barrier or an exchange
// that some lanes miss, an address that is not aligned, a read of what is not there. Shared memory begins as NaN.
// Threads of a warp go together, warps in an order that `order` of EmulatedKernel::run decides.
absl::StatusOr<std::unique_ptr<EmulatedModule>> Parse(const std::string& name, const std::string& text);

}  // namespace weft::ptx

#endif  // WEFT_TESTS_EMULATION_PTX_PTX_H_
