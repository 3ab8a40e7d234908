// Kernels for simt_test.cc.
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/simt_test_arguments.h"
#include "ops/cuda/types.h"

using namespace weft::gpu;

// Every thread gets the sum of the block's x.
WEFT_KERNEL(block_sum, TestArguments, 1024) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  args.y[i] = BlockReduce<Sum>(args.x[i]);
}

// Reverses what each block has, through dynamic shared memory.
WEFT_KERNEL(reverse, TestArguments, 1024) {
  float* shared = DynamicShared<float>();
  const int64_t first = blockIdx.x * blockDim.x;
  shared[threadIdx.x] = args.x[first + threadIdx.x];
  if (args.flag == 0) __syncthreads();
  args.y[first + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

// Lane i gets word i ^ flag and counts the odd lanes.
WEFT_KERNEL(lanes, TestArguments, 1024) {
  const float other = __shfl_xor_sync(0xffffffffu, args.x[threadIdx.x], args.flag);
  const uint32_t odd = __ballot_sync(0xffffffffu, threadIdx.x % 2);
  args.y[threadIdx.x] = other + 100.0f * (odd == 0xaaaaaaaau);
}

// A barrier that half of the block does not reach.
WEFT_KERNEL(divergent, TestArguments, 1024) {
  if (threadIdx.x < blockDim.x / 2) __syncthreads();
  args.y[threadIdx.x] = 0;
}

// Two barriers that are not one.
WEFT_KERNEL(two_barriers, TestArguments, 1024) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  args.y[threadIdx.x] = 0;
}

// A shuffle of a full warp that one lane misses.
WEFT_KERNEL(missing_lane, TestArguments, 1024) {
  if (threadIdx.x != 3) args.y[threadIdx.x] = __shfl_sync(0xffffffffu, args.x[threadIdx.x], 0);
}

// Writes one element beyond the dynamic shared memory.
WEFT_KERNEL(beyond_shared, TestArguments, 1024) {
  DynamicShared<float>()[threadIdx.x + 1] = 0;
  args.y[threadIdx.x] = 0;
}
