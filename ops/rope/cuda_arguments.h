// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_ROPE_CUDA_ARGUMENTS_H_
#define WEFT_OPS_ROPE_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/rope/limits.h"

namespace weft::rope {

inline constexpr int kThreads = 256;

// x and y are [rows, heads, 2 pairs], the rows being `sequence` places of each of the batch. Element i of pair p of a
// head lies at p * pair_stride + i * element_stride.
struct RopeArguments {
  const void* x;
  void* y;
  const int32_t* positions;  // [rows]; null: first + row % sequence
  int64_t rows, sequence, heads, pairs, first;
  int64_t pair_stride, element_stride;
  double frequencies[kMaxPairs];
};

}  // namespace weft::rope

#endif  // WEFT_OPS_ROPE_CUDA_ARGUMENTS_H_
