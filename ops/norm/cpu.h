// CPU kernels of the norm family.
#ifndef WEFT_OPS_NORM_CPU_H_
#define WEFT_OPS_NORM_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds `layer_norm`, `layer_norm_grad`, `rms_norm`, `rms_norm_grad` and, for each, `residual_...` (residual.h). Results
// do not depend on the number of threads.
void RegisterNormKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_NORM_CPU_H_
