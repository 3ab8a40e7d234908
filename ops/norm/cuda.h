// GPU kernels of layer_norm, rms_norm and their gradients, for f32, bf16 and f16
// (computed in float); weights and biases have the type of the input or f32. dx may
// have the address of dy or x, y that of x.
#ifndef WEFT_OPS_NORM_CUDA_H_
#define WEFT_OPS_NORM_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterNormCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_NORM_CUDA_H_
