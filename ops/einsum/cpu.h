// CPU kernels of the einsum family.
#ifndef WEFT_OPS_EINSUM_CPU_H_
#define WEFT_OPS_EINSUM_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds `einsum`: one matrix product (f32: our own, gemm.h; bf16: oneDNN; f16: as f32), between permuted copies
// where the equation or the CPU asks for them. The same in every run; f32 results do not depend on
// the number of threads either. With an epilogue (epilogue.h): what the kernels give that it stands for, bit by bit.
void RegisterEinsumKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_EINSUM_CPU_H_
