// All CPU kernels.
#ifndef WEFT_OPS_CPU_KERNELS_H_
#define WEFT_OPS_CPU_KERNELS_H_

#include "ops/abi/registry.h"

namespace weft {

// Registers the kernels of every family. Call once a registry.
void RegisterCpuKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_CPU_KERNELS_H_
