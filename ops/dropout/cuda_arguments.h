// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_DROPOUT_CUDA_ARGUMENTS_H_
#define WEFT_OPS_DROPOUT_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_dropout.h"

namespace weft::dropout {

inline constexpr int kThreads = 256;

// y[i], i < n, is what the mask makes of x[i].
struct DropoutArguments {
  const void* x;
  void* y;
  int64_t n;
  DropoutMask mask;
};

}  // namespace weft::dropout

#endif  // WEFT_OPS_DROPOUT_CUDA_ARGUMENTS_H_
