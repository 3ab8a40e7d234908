// neg, exp, log, sqrt, rsqrt, tanh, sigmoid, square and scale.
#include <cmath>
#include <memory>

#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/elementwise/cpu_internal.h"
#include "ops/math/vector_math.h"

namespace weft::elementwise {
namespace {

struct NegFn {
  static float Apply(float x) { return -x; }
};
struct ExpFn {
  static float Apply(float x) { return Exp(x); }
};
struct LogFn {
  static float Apply(float x) { return Log(x); }
};
struct SqrtFn {
  static float Apply(float x) { return std::sqrt(x); }
};
struct RsqrtFn {
  static float Apply(float x) { return 1.0f / std::sqrt(x); }
};
struct TanhFn {
  static float Apply(float x) { return Tanh(x); }
};
struct SigmoidFn {
  static float Apply(float x) { return Sigmoid(x); }
};
struct SquareFn {
  static float Apply(float x) { return x * x; }
};

template <typename Fn, typename T>
class UnaryKernel : public Kernel {
 public:
  UnaryKernel(int threads, int64_t elements) : threads_(threads), elements_(elements) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const T*>(inputs[0]);
    auto* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = Narrow<T>(Fn::Apply(Widen(x[i])));
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
};

template <typename T>
class ScaleKernel : public Kernel {
 public:
  ScaleKernel(int threads, int64_t elements, float factor) : threads_(threads), elements_(elements), factor_(factor) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const T*>(inputs[0]);
    auto* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = Narrow<T>(Widen(x[i]) * factor_);
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  float factor_;
};

template <typename Fn>
absl::StatusOr<std::unique_ptr<Kernel>> CreateUnary(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.->float:."));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<UnaryKernel<Fn, decltype(zero)>>(spec.threads, extents.rows());
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateScale(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.->float:."));
  WEFT_ASSIGN_OR_RETURN(double factor, spec.attributes.Float("factor"));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<ScaleKernel<decltype(zero)>>(spec.threads, extents.rows(), static_cast<float>(factor));
  });
}

}  // namespace

void RegisterUnary(KernelRegistry& registry) {
  registry.Register("neg", &CreateUnary<NegFn>);
  registry.Register("exp", &CreateUnary<ExpFn>);
  registry.Register("log", &CreateUnary<LogFn>);
  registry.Register("sqrt", &CreateUnary<SqrtFn>);
  registry.Register("rsqrt", &CreateUnary<RsqrtFn>);
  registry.Register("tanh", &CreateUnary<TanhFn>);
  registry.Register("sigmoid", &CreateUnary<SigmoidFn>);
  registry.Register("square", &CreateUnary<SquareFn>);
  registry.Register("scale", &CreateScale);
}

}  // namespace weft::elementwise
