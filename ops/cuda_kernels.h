// All GPU kernels, of every operator family that has them.
#ifndef WEFT_OPS_CUDA_KERNELS_H_
#define WEFT_OPS_CUDA_KERNELS_H_

#include <vector>

#include "ops/abi/gpu.h"
#include "ops/abi/registry.h"

namespace weft {

// Adds them to `registry`, which must have none of them yet. They are created
// with KernelSpec::gpu set.
void RegisterCudaKernels(KernelRegistry& registry);

// Their code, for a device to load. Modules without bytes if this was built
// without a CUDA toolkit.
std::vector<GpuModule> CudaModules();

}  // namespace weft

#endif  // WEFT_OPS_CUDA_KERNELS_H_
