// GPU kernels of square_sum, clip_scale, loss_scale, learning_rate, sgd, sgd_momentum,
// adam and accumulate: the formulas and types of cpu.h (gradients f32, bf16 or f16).
#ifndef WEFT_OPS_OPTIMIZER_CUDA_H_
#define WEFT_OPS_OPTIMIZER_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterOptimizerCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_OPTIMIZER_CUDA_H_
