#include "ops/cuda_kernels.h"

#include "ops/activation/cuda.h"
#include "ops/attention/cuda.h"
#include "ops/dropout/cuda.h"
#include "ops/einsum/cuda.h"
#include "ops/elementwise/cuda.h"
#include "ops/embedding/cuda.h"
#include "ops/layout/cuda.h"
#include "ops/loss/cuda.h"
#include "ops/norm/cuda.h"
#include "ops/optimizer/cuda.h"
#include "ops/random/cuda.h"
#include "ops/reduce/cuda.h"
#include "ops/softmax/cuda.h"

// A module's fat binary lies between two symbols, see tools/build_defs/cuda.bzl.
#define WEFT_CUDA_MODULES(X) \
  X(activation)              \
  X(attention)               \
  X(dropout)                 \
  X(einsum)                  \
  X(elementwise)             \
  X(embedding)               \
  X(layout)                  \
  X(loss)                    \
  X(norm)                    \
  X(optimizer)               \
  X(random)                  \
  X(reduce)                  \
  X(softmax)

extern "C" {
#define WEFT_DECLARE(name)                       \
  extern const unsigned char weft_cuda_##name[]; \
  extern const unsigned char weft_cuda_##name##_end[];
WEFT_CUDA_MODULES(WEFT_DECLARE)
#undef WEFT_DECLARE
}

namespace weft {

void RegisterCudaKernels(KernelRegistry& registry) {
  RegisterActivationCudaKernels(registry);
  RegisterAttentionCudaKernels(registry);
  RegisterDropoutCudaKernels(registry);
  RegisterEinsumCudaKernels(registry);
  RegisterElementwiseCudaKernels(registry);
  RegisterEmbeddingCudaKernels(registry);
  RegisterLayoutCudaKernels(registry);
  RegisterLossCudaKernels(registry);
  RegisterNormCudaKernels(registry);
  RegisterOptimizerCudaKernels(registry);
  RegisterRandomCudaKernels(registry);
  RegisterReduceCudaKernels(registry);
  RegisterSoftmaxCudaKernels(registry);
}

std::vector<GpuModule> CudaModules() {
  return {
#define WEFT_MODULE_OF(name) {#name, weft_cuda_##name, static_cast<size_t>(weft_cuda_##name##_end - weft_cuda_##name)},
      WEFT_CUDA_MODULES(WEFT_MODULE_OF)
#undef WEFT_MODULE_OF
  };
}

}  // namespace weft
