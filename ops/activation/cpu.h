// CPU kernels of the activation family.
#ifndef WEFT_OPS_ACTIVATION_CPU_H_
#define WEFT_OPS_ACTIVATION_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds `relu`, `silu`, `gelu` and their `_grad` kernels, which take (dy, x).
void RegisterActivationKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_ACTIVATION_CPU_H_
