// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_OPTIMIZER_CUDA_ARGUMENTS_H_
#define WEFT_OPS_OPTIMIZER_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::optimizer {

inline constexpr int kThreads = 256;
inline constexpr int kMaxParts = 1024;  // of a sum, one a block

// sum_parts: the sums of squares of what each block goes over; sum_all: their sum.
struct SquareSumArguments {
  const void* x;
  double* parts;
  float* y;
  int64_t n;
  int32_t count;
};

struct ClipArguments {
  const float* square_sum;
  const float* count;
  float* scale;
  float* norm;
  double clip;
};

// Parameters and state, n elements each, old and new. `lr` and `scale` are in
// device memory; what depends on the step is worked out by the host.
struct UpdateArguments {
  const float *p, *m, *v;
  const void* g;
  float *p2, *m2, *v2;
  const float *lr, *scale;
  int64_t n;
  float momentum;      // sgd_momentum
  float decay;         // sgd, sgd_momentum
  float beta1, rest1;  // adam; rest = 1 - beta
  float beta2, rest2;
  double bias1;      // 1 - beta1^t
  float correction;  // 1 / (1 - beta2^t)
  float eps;
  float coupled;     // weight decay that goes through the moments
  double decoupled;  // and what does not
};

// y = x where `first`, else acc + x. `value`: of learning_rate, which writes it.
struct AccumulateArguments {
  const float* x;
  const float* acc;
  float* y;
  int64_t n;
  bool first;
  float value;
};

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_CUDA_ARGUMENTS_H_
