// Where the elements of a walk over dims lie, in device code.
#ifndef WEFT_OPS_CUDA_DIMS_H_
#define WEFT_OPS_CUDA_DIMS_H_

#include "ops/abi/dim_list.h"
#include "ops/cuda/kernel.h"

namespace weft::gpu {

// In elements, of the index-th of the walk.
WEFT_DEVICE int64_t OffsetOf(const reduce::DimList& list, int64_t index) {
  int64_t offset = 0;
  for (int d = 0; d < list.dims; ++d) {
    offset += index % list.extent[d] * list.stride[d];
    index /= list.extent[d];
  }
  return offset;
}

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_DIMS_H_
