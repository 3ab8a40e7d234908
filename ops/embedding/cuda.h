// GPU kernels of embedding (rows of 2 or 4 byte elements) and embedding_grad
// (f32). An id outside the vocabulary raises an alarm.
#ifndef WEFT_OPS_EMBEDDING_CUDA_H_
#define WEFT_OPS_EMBEDDING_CUDA_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterEmbeddingCudaKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_EMBEDDING_CUDA_H_
