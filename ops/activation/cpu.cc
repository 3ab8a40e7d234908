// CPU kernels of the activation family.
// Adds `relu`, `silu`, `gelu` and their `_grad` kernels, which take (dy, x).
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"
#include "ops/math/vector_math.h"

namespace weft {
namespace {

constexpr int64_t kGrain = 8 * 1024;  // elements that are worth a thread

// Each activation has the value at x and the slope at x. NaN gives NaN.
struct Relu {
  static float Value(float x) { return x < 0 ? 0 : x; }
  static float Slope(float x) { return x > 0 ? 1.0f : x <= 0 ? 0.0f : x; }
};

// x sigmoid(x).
struct Silu {
  static float Value(float x) { return x * Sigmoid(x); }
  static float Slope(float x) {
    const float s = Sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
  }
};

// 0.5 x (1 + tanh u) with u = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks and Gimpel, "Gaussian error
// linear units", 2016), written as x sigmoid(2u).
struct GeluTanh {
  static constexpr float kScale = 0.7978845608f, kCubic = 0.044715f;
  static float Value(float x) { return x * Sigmoid(2.0f * kScale * (x + kCubic * x * x * x)); }
  // s + 2 x s (1 - s) du/dx, as 1 - tanh^2 u = 4 s (1 - s).
  static float Slope(float x) {
    const float s = Sigmoid(2.0f * kScale * (x + kCubic * x * x * x));
    return s + 2.0f * x * s * (1.0f - s) * kScale * (1.0f + 3.0f * kCubic * x * x);
  }
};

// x times the normal distribution function.
struct GeluErf {
  static constexpr float kSqrtHalf = 0.7071067812f, kDensity = 0.3989422804f;  // 1 / sqrt(2 pi)
  static float Value(float x) { return 0.5f * x * (1.0f + Erf(x * kSqrtHalf)); }
  static float Slope(float x) { return 0.5f * (1.0f + Erf(x * kSqrtHalf)) + x * kDensity * Exp(-0.5f * x * x); }
};

template <typename Activation, typename T>
class ValueKernel : public Kernel {
 public:
  ValueKernel(int64_t elements, int threads) : elements_(elements), threads_(threads) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    T* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [=](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = Narrow<T>(Activation::Value(Widen(x[i])));
    });
    return absl::OkStatus();
  }

 private:
  const int64_t elements_;
  const int threads_;
};

template <typename Activation, typename T>
class GradKernel : public Kernel {
 public:
  GradKernel(int64_t elements, int threads) : elements_(elements), threads_(threads) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* dy = static_cast<const T*>(inputs[0]);
    const T* x = static_cast<const T*>(inputs[1]);
    T* dx = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [=](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) dx[i] = Narrow<T>(Widen(dy[i]) * Activation::Slope(Widen(x[i])));
    });
    return absl::OkStatus();
  }

 private:
  const int64_t elements_;
  const int threads_;
};

template <typename Activation>
absl::StatusOr<std::unique_ptr<Kernel>> CreateValue(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.->float:."));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<ValueKernel<Activation, decltype(zero)>>(extents.rows(), spec.threads);
  });
}

template <typename Activation>
absl::StatusOr<std::unique_ptr<Kernel>> CreateGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.,float:.->float:."));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<GradKernel<Activation, decltype(zero)>>(extents.rows(), spec.threads);
  });
}

// By the attribute `approximate`: "tanh" or "none", which is exact.
absl::StatusOr<std::unique_ptr<Kernel>> CreateByFormula(const KernelSpec& spec, KernelFactory tanh, KernelFactory erf) {
  WEFT_ASSIGN_OR_RETURN(std::string approximate, spec.attributes.String("approximate"));
  if (approximate == "tanh") return tanh(spec);
  if (approximate == "none") return erf(spec);
  return absl::InvalidArgumentError(
      absl::StrCat("attribute `approximate`: expected `tanh` or `none`, got `", approximate, "`"));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateGelu(const KernelSpec& spec) {
  return CreateByFormula(spec, CreateValue<GeluTanh>, CreateValue<GeluErf>);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateGeluGrad(const KernelSpec& spec) {
  return CreateByFormula(spec, CreateGrad<GeluTanh>, CreateGrad<GeluErf>);
}

}  // namespace

void RegisterActivationKernels(KernelRegistry& registry) {
  registry.Register("relu", CreateValue<Relu>);
  registry.Register("relu_grad", CreateGrad<Relu>);
  registry.Register("silu", CreateValue<Silu>);
  registry.Register("silu_grad", CreateGrad<Silu>);
  registry.Register("gelu", CreateGelu);
  registry.Register("gelu_grad", CreateGeluGrad);
}

}  // namespace weft
