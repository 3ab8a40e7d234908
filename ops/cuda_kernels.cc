#include "ops/cuda_kernels.h"

#include "ops/elementwise/cuda.h"

// A module's fat binary lies between two symbols, see tools/build_defs/cuda.bzl.
#define WEFT_CUDA_MODULES(X) \
  X(elementwise)

extern "C" {
#define WEFT_DECLARE(name)                    \
  extern const unsigned char weft_cuda_##name[]; \
  extern const unsigned char weft_cuda_##name##_end[];
WEFT_CUDA_MODULES(WEFT_DECLARE)
#undef WEFT_DECLARE
}

namespace weft {

void RegisterCudaKernels(KernelRegistry& registry) {
  RegisterElementwiseCudaKernels(registry);
}

std::vector<GpuModule> CudaModules() {
  return {
#define WEFT_MODULE_OF(name) {#name, weft_cuda_##name, static_cast<size_t>(weft_cuda_##name##_end - weft_cuda_##name)},
      WEFT_CUDA_MODULES(WEFT_MODULE_OF)
#undef WEFT_MODULE_OF
  };
}

}  // namespace weft
