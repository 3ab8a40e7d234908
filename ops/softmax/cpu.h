// CPU kernels of the softmax family.
#ifndef WEFT_OPS_SOFTMAX_CPU_H_
#define WEFT_OPS_SOFTMAX_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds `softmax` and `softmax_grad`, over the last dim. Results do not depend on the number of threads.
void RegisterSoftmaxKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_SOFTMAX_CPU_H_
