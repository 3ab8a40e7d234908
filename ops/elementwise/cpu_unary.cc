// neg, exp, log, sqrt, rsqrt, tanh, sigmoid, square, abs and sign; scale, add_scalar and clamp.
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

struct AbsFn {
  static float Apply(float x) { return std::fabs(x); }
};
// NaN stays.
struct SignFn {
  static float Apply(float x) {
    const float below = x < 0 ? -1.0f : x;
    return x > 0 ? 1.0f : below;
  }
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

// With numbers that are known when the kernel is created.
struct Scale {
  float factor;
  float Apply(float x) const { return x * factor; }
};
struct AddScalar {
  float addend;
  float Apply(float x) const { return x + addend; }
};
// NaN stays: a comparison with it is false.
struct Clamp {
  float min, max;
  float Apply(float x) const {
    const float low = x < min ? min : x;
    return low > max ? max : low;
  }
};

template <typename Fn, typename T>
class NumberKernel : public Kernel {
 public:
  NumberKernel(int threads, int64_t elements, Fn fn) : threads_(threads), elements_(elements), fn_(fn) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const T*>(inputs[0]);
    auto* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&, fn = fn_](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = Narrow<T>(fn.Apply(Widen(x[i])));
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  Fn fn_;
};

template <typename Fn>
absl::StatusOr<std::unique_ptr<Kernel>> CreateUnary(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.->float:."));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<UnaryKernel<Fn, decltype(zero)>>(spec.threads, extents.rows());
  });
}

template <typename Fn>
absl::StatusOr<std::unique_ptr<Kernel>> MakeNumber(const KernelSpec& spec, Fn fn) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.->float:."));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<NumberKernel<Fn, decltype(zero)>>(spec.threads, extents.rows(), fn);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateScale(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(double factor, spec.attributes.Float("factor"));
  return MakeNumber(spec, Scale{static_cast<float>(factor)});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateAddScalar(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(double addend, spec.attributes.Float("addend"));
  return MakeNumber(spec, AddScalar{static_cast<float>(addend)});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateClamp(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(double min, FloatAttribute(spec, "min", -INFINITY));
  WEFT_ASSIGN_OR_RETURN(double max, FloatAttribute(spec, "max", INFINITY));
  return MakeNumber(spec, Clamp{static_cast<float>(min), static_cast<float>(max)});
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
  registry.Register("abs", &CreateUnary<AbsFn>);
  registry.Register("sign", &CreateUnary<SignFn>);
  registry.Register("scale", &CreateScale);
  registry.Register("add_scalar", &CreateAddScalar);
  registry.Register("clamp", &CreateClamp);
}

}  // namespace weft::elementwise
