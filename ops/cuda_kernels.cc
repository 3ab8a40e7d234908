#include "ops/cuda_kernels.h"

#include "ops/families.h"

// A module's fat binary lies between two symbols, see tools/build_defs/cuda.bzl.
#define WEFT_FAMILY(name, Name)                      \
  extern "C" const unsigned char weft_cuda_##name[]; \
  extern "C" const unsigned char weft_cuda_##name##_end[];
#include "ops/families.inc"
#undef WEFT_FAMILY

namespace weft {

void RegisterCudaKernels(KernelRegistry& registry) {
#define WEFT_FAMILY(name, Name) Register##Name##CudaKernels(registry);
#include "ops/families.inc"
#undef WEFT_FAMILY
}

std::vector<GpuModule> CudaModules() {
  return {
#define WEFT_FAMILY(name, Name) \
  {#name, weft_cuda_##name, static_cast<size_t>(weft_cuda_##name##_end - weft_cuda_##name)},
#include "ops/families.inc"
#undef WEFT_FAMILY
  };
}

}  // namespace weft
