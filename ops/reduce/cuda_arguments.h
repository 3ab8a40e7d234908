// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_REDUCE_CUDA_ARGUMENTS_H_
#define WEFT_OPS_REDUCE_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::reduce {

inline constexpr int kThreads = 256;
inline constexpr int kColumns = 32;  // of a block of kColumns x kThreads / kColumns threads
inline constexpr int kMaxDims = 8;

// Dims walked in row-major order, innermost first.
struct DimList {
  int32_t dims;
  int64_t count;  // the product of the extents
  int64_t extent[kMaxDims];
  int64_t stride[kMaxDims];
};

// See ReducePlan. Rows reduced: output k is that of kept index k. Rows kept: output
// k * row + c. Results are multiplied by `factor`.
struct ReduceArguments {
  const void* x;
  void* y;
  DimList kept, reduced;
  int64_t row;
  double factor;
};

}  // namespace weft::reduce

#endif  // WEFT_OPS_REDUCE_CUDA_ARGUMENTS_H_
