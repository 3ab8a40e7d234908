// Sums and maxima over the threads of a block, in an order that depends on the
// number of threads alone.
#ifndef WEFT_OPS_CUDA_REDUCE_H_
#define WEFT_OPS_CUDA_REDUCE_H_

#include "ops/cuda/kernel.h"

namespace weft::gpu {

struct Sum {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a + b;
  }
  template <typename T>
  WEFT_DEVICE static T Identity() {
    return T(0);
  }
};

// NaN if either is.
struct Max {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a > b || a != a ? a : b;
  }
  template <typename T>
  WEFT_DEVICE static T Identity() {
    return T(-INFINITY);
  }
};

// Over the 32 lanes of a warp; every lane gets the result.
template <typename Op, typename T>
WEFT_DEVICE T WarpReduce(T value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value = Op::Of(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  return value;
}

// Over a block of one dimension, whose threads are a multiple of 32; every thread gets
// the result. Called by all of them; it may be called again at once.
template <typename Op, typename T>
WEFT_DEVICE T BlockReduce(T value) {
  __shared__ T warps[32];
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
  value = WarpReduce<Op>(value);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  value = WarpReduce<Op>(lane < count ? warps[lane] : Op::template Identity<T>());
  __syncthreads();
  return value;
}

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_REDUCE_H_
