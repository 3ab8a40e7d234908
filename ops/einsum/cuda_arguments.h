// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_EINSUM_CUDA_ARGUMENTS_H_
#define WEFT_OPS_EINSUM_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_alarm.h"

namespace weft::einsum {

inline constexpr int kMaxAxes = 6;
// A block of kSide x kSide threads makes a tile of kTile x kTile of the result,
// kDepth summands at a time.
inline constexpr int kSide = 16;
inline constexpr int kTile = 64;
inline constexpr int kDepth = 16;
// A tile by matrix instructions, of as many threads.
inline constexpr int kMatrixTile = 128;

// Axes that are walked as one, innermost first; strides in elements of left, right, result.
struct AxisList {
  int32_t count;
  int64_t size;  // the product of the extents
  int64_t extent[kMaxAxes];
  int64_t stride[kMaxAxes][3];
};

// What is done with a sum before it is written to the result's element `at`. Addresses are null where there is nothing
// to do; all have the result's type.
struct EpilogueArguments {
  const void* added;  // element `at`
  const void* bias;   // added, element at % bias_size
  int64_t bias_size;
  void* kept;    // written then
  int32_t gelu;  // GELU is taken
};

// result[batch, row, column] = sum over inner of left[batch, row, inner] right[batch, inner, column].
struct ProductArguments {
  const void* left;
  const void* right;
  void* result;
  AxisList batch, rows, columns, inner;
  EpilogueArguments epilogue;
  bool adds;  // to the result as it is
};

// The epilogue alone, of n elements that are there.
struct FinishArguments {
  void* result;
  int64_t n;
  EpilogueArguments epilogue;
};

// sums[c] = sum over r of matrix[r, c], row-major; a block of 32 x kSumRows threads does 32 columns.
inline constexpr int kSumRows = 8;
struct ColumnSumArguments {
  const void* matrix;
  void* sums;
  int64_t rows, columns;
};

// The problem of ops/einsum/grouped.h.
struct GroupedArguments {
  const void* left;
  const void* right;  // the matrices, or rows of m columns
  void* result;
  const int32_t* counts;
  int64_t outer, rows, k, m;
  int64_t groups, begin, count;
  bool transposed;
  GpuAlarm* alarm;
};

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_ARGUMENTS_H_
