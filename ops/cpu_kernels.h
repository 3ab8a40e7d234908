// All CPU kernels, of every operator family.
#ifndef WEFT_OPS_CPU_KERNELS_H_
#define WEFT_OPS_CPU_KERNELS_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds them to `registry`, which must have none of them yet.
void RegisterCpuKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_CPU_KERNELS_H_
