// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_BATCH_NORM_CUDA_ARGUMENTS_H_
#define WEFT_OPS_BATCH_NORM_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/dim_list.h"

namespace weft::batch_norm {

inline constexpr int kThreads = 256;
inline constexpr int kColumns = 32;  // of a block of kColumns x kThreads / kColumns threads

// The elements as kept x reduced x a row, see ReducePlan of ops/abi/reduction.h: with rows_reduced a row has one kept
// index, that of `kept`; else each element of a row has one of its own.
struct BatchNormArguments {
  const void* x;
  const void* dy;  // null: no gradient
  const float* mean;
  const float* variance;
  const float* weight;  // [channels]
  const float* bias;    // likewise
  const float* dy_sum;  // the sums of the whole batch
  const float* dyn_sum;
  void* y;       // the normalised x, or dx
  float* sum;    // of squared distances, or of dy; a number a kept index
  float* sum_n;  // of dy n
  reduce::DimList kept, reduced;
  int64_t row, channels;
  double share;  // 1 / the elements of a statistic
  float eps;
  int32_t rows_reduced;
};

}  // namespace weft::batch_norm

#endif  // WEFT_OPS_BATCH_NORM_CUDA_ARGUMENTS_H_
