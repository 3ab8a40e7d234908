// GPU kernels of random_normal, random_uniform and fill, f32: the random words of
// cpu.h, so that uniform numbers are its very bits and normal ones its numbers
// but for the rounding of logarithm and sine.
#ifndef WEFT_OPS_RANDOM_CUDA_H_
#define WEFT_OPS_RANDOM_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterRandomCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_RANDOM_CUDA_H_
