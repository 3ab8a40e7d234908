// Kernels for simt_test.cc.
#include "ops/cuda/kernel.h"
#include "ops/cuda/matrix.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"
#include "tests/emulation/simt/simt_test_arguments.h"

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

namespace {

// Small integers: their products are exact.
WEFT_DEVICE float Left(int row, int k) { return static_cast<float>((row * 3 + k * 5) % 7 - 3); }
WEFT_DEVICE float Right(int k, int column) { return static_cast<float>((k * 2 + column * 11 + k * column) % 5 - 2); }

// How far this lane's part of a product is from the right one. The right operand is [16, 16] (k, column) and loaded
// transposed, or [16, 16] (column, k).
template <typename T>
WEFT_DEVICE float ErrorOfProduct(bool transposed) {
  alignas(16) __shared__ T left[16][16];
  alignas(16) __shared__ T right[16][16];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < 256; i += 32) {
    left[i / 16][i % 16] = Narrow<T>(Left(i / 16, i % 16));
    right[i / 16][i % 16] = Narrow<T>(transposed ? Right(i / 16, i % 16) : Right(i % 16, i / 16));
  }
  __syncwarp();
  MatrixA a;
  uint32_t b[4];  // two matrices side by side
  LoadMatrices(a.words, &left[lane % 16][lane / 16 * 8]);
  if (transposed) {
    LoadTransposed(b, &right[lane % 16][lane / 16 * 8]);
  } else {
    LoadMatrices(b, &right[lane % 8 + lane / 16 * 8][lane / 8 % 2 * 8]);
  }
  float error = 0;
  for (int n = 0; n < 2; ++n) {
    MatrixC c = {{1, 2, 3, 4}};
    MultiplyAdd<T>(c, a, {{b[2 * n], b[2 * n + 1]}});
    for (int i = 0; i < 4; ++i) {
      float expected = static_cast<float>(i + 1);
      for (int k = 0; k < 16; ++k) {
        expected += Left(lane / 4 + i / 2 * 8, k) * Right(k, n * 8 + lane % 4 * 2 + i % 2);
      }
      error += fabsf(c.values[i] - expected);
    }
  }
  return error;
}

}  // namespace

WEFT_KERNEL(matrices, TestArguments, 32) {
  float error = ErrorOfProduct<BF16>(args.flag != 0);
  __syncwarp();
  error += ErrorOfProduct<F16>(args.flag != 0);
  args.y[threadIdx.x] = error;
}

// Copies x by way of shared memory, with the given fault: 1 no wait, 2 a wait for too little, 3 to global memory,
// 4 from an odd address.
WEFT_KERNEL(copies, TestArguments, 1024) {
  __shared__ float shared[64];
  const int i = static_cast<int>(threadIdx.x);
  CopyAsync<4>(args.flag == 3 ? args.y : shared + i,
               args.flag == 4 ? reinterpret_cast<const char*>(args.x) + 1 : static_cast<const void*>(args.x + i),
               i != 7);
  CommitCopies();
  if (args.flag == 2) WaitCopies<1>();
  if (args.flag == 0) WaitCopies<0>();
  args.y[i] = shared[i];
}
