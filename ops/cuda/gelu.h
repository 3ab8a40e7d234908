// GELU by its tanh approximation: cells.cc of ops/activation has the formula.
#ifndef WEFT_OPS_CUDA_GELU_H_
#define WEFT_OPS_CUDA_GELU_H_

#include "ops/cuda/kernel.h"

namespace weft::gpu {

WEFT_DEVICE float SigmoidOf(float x) { return 1.0f / (1.0f + expf(-x)); }

struct GeluTanh {
  static constexpr float kScale = 0.7978845608f, kCubic = 0.044715f;  // sqrt(2 / pi)
  WEFT_DEVICE static float Value(float x) { return x * SigmoidOf(2.0f * kScale * (x + kCubic * x * x * x)); }
};

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_GELU_H_
