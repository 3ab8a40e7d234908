// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_ACTIVATION_CUDA_ARGUMENTS_H_
#define WEFT_OPS_ACTIVATION_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::activation {

inline constexpr int kThreads = 256;

// y[i] = value(x[i]), or dy[i] slope(x[i]); i < n.
struct ActivationArguments {
  const void* dy;
  const void* x;
  void* y;
  int64_t n;
};

}  // namespace weft::activation

#endif  // WEFT_OPS_ACTIVATION_CUDA_ARGUMENTS_H_
