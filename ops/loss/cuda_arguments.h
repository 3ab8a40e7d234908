// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_LOSS_CUDA_ARGUMENTS_H_
#define WEFT_OPS_LOSS_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_alarm.h"

namespace weft::loss {

inline constexpr int kThreads = 256;

// Logits are [rows, n], columns `begin` and on of a vocabulary of `size`; the
// others [rows]. Each kernel uses some of them.
struct LossArguments {
  const float* scale;  // dloss
  const void* logits;  // f32, bf16 or f16
  const float* max;
  const float* sum;
  const float* picked;
  const int32_t* labels;
  const float* weights;  // of the rows, or null: 1
  void* y;               // of the logits' type in cross_entropy_grad, else f32
  float* count_out;
  int64_t rows, n;
  int64_t size, begin;
  int64_t ignore;
  float target_of_label, target_of_all;  // probabilities
  GpuAlarm* alarm;
};

}  // namespace weft::loss

#endif  // WEFT_OPS_LOSS_CUDA_ARGUMENTS_H_
