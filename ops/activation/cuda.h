// GPU kernels of relu, silu and gelu and of their gradients, for f32, bf16 and
// f16 (computed in float). An output may have the address of an input.
#ifndef WEFT_OPS_ACTIVATION_CUDA_H_
#define WEFT_OPS_ACTIVATION_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterActivationCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_ACTIVATION_CUDA_H_
