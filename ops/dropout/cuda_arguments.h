// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_DROPOUT_CUDA_ARGUMENTS_H_
#define WEFT_OPS_DROPOUT_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_tile.h"

namespace weft::dropout {

inline constexpr int kThreads = 256;

// y[i], i < n, is x[i] * scale if the upper 24 bits of the word of element
// first + tile.GlobalOf(i) reach `threshold`, else 0.
struct DropoutArguments {
  const void* x;
  void* y;
  int64_t n;
  GpuTile tile;
  uint64_t first;  // of the micro-batch in the whole batch
  uint64_t key;
  const double* step;  // of the run: the event
  int32_t threshold;
  float scale;
};

}  // namespace weft::dropout

#endif  // WEFT_OPS_DROPOUT_CUDA_ARGUMENTS_H_
