// GPU kernels of softmax and softmax_grad over the last dim, for f32, bf16 and
// f16 (computed in float). An output may have the address of an input.
#ifndef WEFT_OPS_SOFTMAX_CUDA_H_
#define WEFT_OPS_SOFTMAX_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterSoftmaxCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_SOFTMAX_CUDA_H_
