// GPU kernels of attention and its gradient, for f32, bf16 and f16 (summed in float) and head sizes
// up to 256.
#ifndef WEFT_OPS_ATTENTION_CUDA_H_
#define WEFT_OPS_ATTENTION_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds `attention` and `attention_grad`, both deterministic.
void RegisterAttentionCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_ATTENTION_CUDA_H_
