// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_OPTIMIZER_CUDA_ARGUMENTS_H_
#define WEFT_OPS_OPTIMIZER_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::optimizer {

inline constexpr int kThreads = 256;
inline constexpr int kMaxParts = 1024;  // of a sum, one a block

// What the numbers of a tensor are stored as.
enum class Stored : int32_t { kF32, kBF16, kF16 };

// square_parts: the sums of squares of what each block goes over, a tensor's from its block `first` on; square_totals:
// each tensor's sum, by a block each.
struct SquareSumArguments {
  static constexpr int kMost = 128;
  struct Tensor {
    const void* x;
    int64_t n;
    int32_t first;
    Stored type;
  };
  double* parts;
  float* sums;
  int32_t tensors, blocks;
  Tensor each[kMost];
};

// y = the sum of n numbers, in their order.
struct SumInOrderArguments {
  const float* x;
  float* y;
  int32_t n;
};

struct ClipArguments {
  const float* square_sum;
  const float* count;
  const float* loss_scale;  // null: 1
  float* scale;
  float* norm;
  double clip;
};

// In: square_sum, scale, good_steps, skipped_steps; out: the number of the step, then the next of the others.
struct LossScaleArguments {
  const float* in[4];
  float* out[4];
  const double* run_step;  // from 1, with those that were skipped
  double growth, backoff, interval, min, max;
};

// y = x where `first`, else acc + x.
struct AccumulateArguments {
  const float* x;
  const float* acc;
  float* y;
  int64_t n;
  bool first;
};

// y = rate.
struct LearningRateArguments {
  const double* rate;
  float* y;
};

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_CUDA_ARGUMENTS_H_
