// The GPU kernel of dropout, for f32, bf16 and f16: the masks of cpu.h. y may have
// the address of x.
#ifndef WEFT_OPS_DROPOUT_CUDA_H_
#define WEFT_OPS_DROPOUT_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterDropoutCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_DROPOUT_CUDA_H_
