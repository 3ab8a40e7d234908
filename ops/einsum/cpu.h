// CPU kernels of the einsum family.
#ifndef WEFT_OPS_EINSUM_CPU_H_
#define WEFT_OPS_EINSUM_CPU_H_

#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/registry.h"

namespace weft {

// Adds `einsum`: one matrix product (f32: OpenBLAS; bf16: oneDNN; f16: as f32), between permuted copies
// where the equation or the CPU asks for them. The same in every run; f32 results do not depend on
// the number of threads either. With an epilogue (epilogue.h): what the kernels give that it stands for, bit by bit.
void RegisterEinsumKernels(KernelRegistry& registry);

// The library that multiplies f32, for people; kNotFound: why plain loops do.
absl::StatusOr<std::string> EinsumLibrary();

}  // namespace weft

#endif  // WEFT_OPS_EINSUM_CPU_H_
