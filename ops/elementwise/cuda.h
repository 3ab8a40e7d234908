// GPU kernels of the element-wise ops: those of cpu.h, for f32, bf16 and f16
// (stored so, computed in float; one type an op), broadcast_to for elements of
// 1 to 8 bytes, cast between all of f32, bf16, f16 and i32.
#ifndef WEFT_OPS_ELEMENTWISE_CUDA_H_
#define WEFT_OPS_ELEMENTWISE_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterElementwiseCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_ELEMENTWISE_CUDA_H_
