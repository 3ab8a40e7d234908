// GPU kernels of einsum: operands f32, bf16 or f16, both of one type; a result of
// that type or f32; summed in float.
#ifndef WEFT_OPS_EINSUM_CUDA_H_
#define WEFT_OPS_EINSUM_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterEinsumCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_EINSUM_CUDA_H_
