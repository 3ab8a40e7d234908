// Activations and their gradients, packs of 16 bytes at a time. The formulas are
// those of cpu.cc. NaN gives NaN.
#include "ops/activation/cuda_arguments.h"
#include "ops/cuda/gelu.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"

namespace {

using namespace weft::gpu;
using namespace weft::activation;

struct Relu {
  WEFT_DEVICE static float Value(float x) { return x < 0 ? 0 : x; }
  WEFT_DEVICE static float Slope(float x) { return x > 0 ? 1.0f : x <= 0 ? 0.0f : x; }
};

struct Silu {
  WEFT_DEVICE static float Value(float x) { return x * SigmoidOf(x); }
  WEFT_DEVICE static float Slope(float x) {
    const float s = SigmoidOf(x);
    return s * (1.0f + x * (1.0f - s));
  }
};

struct GeluErf {
  static constexpr float kSqrtHalf = 0.7071067812f, kDensity = 0.3989422804f;  // 1 / sqrt(2 pi)
  WEFT_DEVICE static float Value(float x) { return 0.5f * x * (1.0f + erff(x * kSqrtHalf)); }
  WEFT_DEVICE static float Slope(float x) {
    return 0.5f * (1.0f + erff(x * kSqrtHalf)) + x * kDensity * expf(-0.5f * x * x);
  }
};

template <typename Activation, typename T>
WEFT_DEVICE void Value(const ActivationArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    Pack<T> x = LoadPack<kPack>(static_cast<const T*>(args.x) + at, count);
    for (int i = 0; i < kPack; ++i) x[i] = Narrow<T>(Activation::Value(Widen(x[i])));
    StorePack<kPack>(static_cast<T*>(args.y) + at, x, count);
  }
}

template <typename Activation, typename T>
WEFT_DEVICE void Grad(const ActivationArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    const Pack<T> dy = LoadPack<kPack>(static_cast<const T*>(args.dy) + at, count);
    Pack<T> x = LoadPack<kPack>(static_cast<const T*>(args.x) + at, count);
    for (int i = 0; i < kPack; ++i) x[i] = Narrow<T>(Widen(dy[i]) * Activation::Slope(Widen(x[i])));
    StorePack<kPack>(static_cast<T*>(args.y) + at, x, count);
  }
}

}  // namespace

#define WEFT_ACTIVATION(name, Activation, type, T)                                          \
  WEFT_KERNEL(name##_##type, ActivationArguments, kThreads) { Value<Activation, T>(args); } \
  WEFT_KERNEL(name##_grad_##type, ActivationArguments, kThreads) { Grad<Activation, T>(args); }
#define WEFT_FLOATS(name, Activation)           \
  WEFT_ACTIVATION(name, Activation, f32, float) \
  WEFT_ACTIVATION(name, Activation, bf16, BF16) \
  WEFT_ACTIVATION(name, Activation, f16, F16)

WEFT_FLOATS(relu, Relu)
WEFT_FLOATS(silu, Silu)
WEFT_FLOATS(gelu_tanh, GeluTanh)
WEFT_FLOATS(gelu_erf, GeluErf)
