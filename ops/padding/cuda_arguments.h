// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_PADDING_CUDA_ARGUMENTS_H_
#define WEFT_OPS_PADDING_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::padding {

inline constexpr int kThreads = 256;

// y[offset + r stride + i] = the lowest bytes of `word`, for n = count x elements: r < count, i < elements.
struct RowsArguments {
  void* y;
  int64_t n, offset, elements, stride;
  uint64_t word;
};

}  // namespace weft::padding

#endif  // WEFT_OPS_PADDING_CUDA_ARGUMENTS_H_
