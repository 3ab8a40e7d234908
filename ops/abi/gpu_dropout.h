// Which elements a dropout keeps, as GPU kernels are told.
#ifndef WEFT_OPS_ABI_GPU_DROPOUT_H_
#define WEFT_OPS_ABI_GPU_DROPOUT_H_

#include <cstdint>

#include "ops/abi/gpu_tile.h"

namespace weft {

// Element i becomes itself times `scale` if the upper 24 bits of the word of element first + tile.GlobalOf(i) reach
// `threshold`, else 0.
struct DropoutMask {
  GpuTile tile;
  uint64_t first;  // of the micro-batch in the whole batch
  uint64_t key;
  const double* step;  // of the run: the event
  int32_t threshold;
  float scale;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_GPU_DROPOUT_H_
