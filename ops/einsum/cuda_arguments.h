// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_EINSUM_CUDA_ARGUMENTS_H_
#define WEFT_OPS_EINSUM_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::einsum {

inline constexpr int kMaxAxes = 6;
// A block of kSide x kSide threads makes a tile of kTile x kTile of the result,
// kDepth summands at a time.
inline constexpr int kSide = 16;
inline constexpr int kTile = 64;
inline constexpr int kDepth = 16;

// Axes that are walked as one, innermost first; strides in elements of left, right, result.
struct AxisList {
  int32_t count;
  int64_t size;  // the product of the extents
  int64_t extent[kMaxAxes];
  int64_t stride[kMaxAxes][3];
};

// result[batch, row, column] = sum over inner of left[batch, row, inner] right[batch, inner, column].
struct ProductArguments {
  const void* left;
  const void* right;
  void* result;
  AxisList batch, rows, columns, inner;
};

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_ARGUMENTS_H_
