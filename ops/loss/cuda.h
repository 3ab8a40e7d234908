// GPU kernels of sum_exp, pick, cross_entropy_loss and cross_entropy_grad, f32. A
// label outside the vocabulary that is not to be ignored raises an alarm.
#ifndef WEFT_OPS_LOSS_CUDA_H_
#define WEFT_OPS_LOSS_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterLossCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_LOSS_CUDA_H_
