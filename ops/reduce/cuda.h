// GPU kernels of reduce (sum, mean, max) over any dims, f32: sums in double.
#ifndef WEFT_OPS_REDUCE_CUDA_H_
#define WEFT_OPS_REDUCE_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterReduceCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_REDUCE_CUDA_H_
