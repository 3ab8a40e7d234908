// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_NORM_CUDA_ARGUMENTS_H_
#define WEFT_OPS_NORM_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::norm {

inline constexpr int kThreads = 256;

// x and y are [rows, width]; w and b [width], of their type or, with wide_weights,
// f32; mean and rstd [rows], or null.
struct NormArguments {
  const void* x;
  const void* w;
  const void* b;  // null: root mean square
  void* y;
  float* mean;
  float* rstd;
  int64_t rows, width;
  float eps;
  int32_t wide_weights;
};

// dy, x and dx are [rows, width]; each block writes [sums, width] of `partial`: its
// rows' sums of dw and, unless it is root mean square, db.
struct NormGradArguments {
  const void* dy;
  const void* x;
  const void* w;
  const float* mean;
  const float* rstd;
  void* dx;
  float* partial;
  int64_t rows, width;
  int32_t wide_weights;
};

// dw and db are the sums of the blocks' `partial`, [blocks, columns] with columns = width or 2 width.
struct NormSumArguments {
  const float* partial;
  void* dw;
  void* db;
  int64_t width, columns;
  int32_t blocks;
};

}  // namespace weft::norm

#endif  // WEFT_OPS_NORM_CUDA_ARGUMENTS_H_
