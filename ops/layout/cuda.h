// GPU kernels of copy, copy_tile, concat, mask_rank, pad, reshape, slice and
// transpose, for every element type. copy, reshape and mask_rank may be in place.
#ifndef WEFT_OPS_LAYOUT_CUDA_H_
#define WEFT_OPS_LAYOUT_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterLayoutCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_LAYOUT_CUDA_H_
