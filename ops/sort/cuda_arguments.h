// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_SORT_CUDA_ARGUMENTS_H_
#define WEFT_OPS_SORT_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::sort {

inline constexpr int kThreads = 256;

// Of x [outer, extent, inner] the first `kept` elements of each line, in order.
struct SortArguments {
  const void* x;
  void* values;
  int32_t* ids;
  int64_t outer, extent, inner, kept;
  bool descending;
};

}  // namespace weft::sort

#endif  // WEFT_OPS_SORT_CUDA_ARGUMENTS_H_
