// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_WINDOW_CUDA_ARGUMENTS_H_
#define WEFT_OPS_WINDOW_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/window/windows.h"

namespace weft::window {

inline constexpr int kThreads = 256;

// Of each kernel those that it has, named as in the reference; `out` is what it yields. `n`: how many threads have
// work.
struct WindowArguments {
  const void *x, *y, *dy, *w;
  void* out;
  Windows windows;
  int64_t n;
};

// The gradient of depthwise weights. A block sums over the places of a part for kLanes channels and up to kTaps
// neighbouring taps of one row of the window: `tap_groups` in a row.
inline constexpr int kLanes = 32, kTaps = 8;
struct WeightGradArguments {
  const void *x, *dy;
  float* partial;  // [parts][taps][channels]
  Windows windows;
  int64_t parts, tap_groups;
};

// out[i] = the sum of partial[part][i] over the parts, i < n.
struct SumPartsArguments {
  const float* partial;
  float* out;
  int64_t parts, n;
};

}  // namespace weft::window

#endif  // WEFT_OPS_WINDOW_CUDA_ARGUMENTS_H_
