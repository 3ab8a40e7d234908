// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_SOFTMAX_CUDA_ARGUMENTS_H_
#define WEFT_OPS_SOFTMAX_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::softmax {

inline constexpr int kThreads = 256;

// All tensors are [rows, n]. softmax: x -> y; softmax_grad: x = dy, and y -> dx.
struct SoftmaxArguments {
  const void* x;
  const void* y_in;
  void* y;
  int64_t rows;
  int64_t n;
};

}  // namespace weft::softmax

#endif  // WEFT_OPS_SOFTMAX_CUDA_ARGUMENTS_H_
