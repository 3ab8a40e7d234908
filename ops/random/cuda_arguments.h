// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_RANDOM_CUDA_ARGUMENTS_H_
#define WEFT_OPS_RANDOM_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_tile.h"

namespace weft::random {

inline constexpr int kThreads = 256;

// y[i], i < n, from the word of its global element. Normal: a and b are mean and
// deviation; uniform: low and span, `last` the greatest value.
struct RandomArguments {
  float* y;
  int64_t n;
  GpuTile tile;
  uint64_t key;
  uint64_t first;      // what the tensor's first element is in the whole batch
  const double* step;  // of the run: the event
  float a, b, last;
};

}  // namespace weft::random

#endif  // WEFT_OPS_RANDOM_CUDA_ARGUMENTS_H_
