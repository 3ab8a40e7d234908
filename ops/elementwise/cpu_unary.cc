// neg, exp, log, sqrt, rsqrt, tanh, sigmoid, square and scale.
#include <cmath>
#include <memory>

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

template <typename Fn>
class UnaryKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    absl::StatusOr<Extents> extents = MatchSpec(spec, ".->.");
    if (!extents.ok()) return extents.status();
    return std::make_unique<UnaryKernel>(spec.threads, extents->rows());
  }

  UnaryKernel(int threads, int64_t elements) : threads_(threads), elements_(elements) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const float*>(inputs[0]);
    auto* y = static_cast<float*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = Fn::Apply(x[i]);
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
};

class ScaleKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    absl::StatusOr<Extents> extents = MatchSpec(spec, ".->.");
    if (!extents.ok()) return extents.status();
    absl::StatusOr<double> factor = spec.attributes.Float("factor");
    if (!factor.ok()) return factor.status();
    return std::make_unique<ScaleKernel>(spec.threads, extents->rows(), static_cast<float>(*factor));
  }

  ScaleKernel(int threads, int64_t elements, float factor) : threads_(threads), elements_(elements), factor_(factor) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const float*>(inputs[0]);
    auto* y = static_cast<float*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] * factor_;
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  float factor_;
};

}  // namespace

void RegisterUnary(KernelRegistry& registry) {
  registry.Register("neg", &UnaryKernel<NegFn>::Create);
  registry.Register("exp", &UnaryKernel<ExpFn>::Create);
  registry.Register("log", &UnaryKernel<LogFn>::Create);
  registry.Register("sqrt", &UnaryKernel<SqrtFn>::Create);
  registry.Register("rsqrt", &UnaryKernel<RsqrtFn>::Create);
  registry.Register("tanh", &UnaryKernel<TanhFn>::Create);
  registry.Register("sigmoid", &UnaryKernel<SigmoidFn>::Create);
  registry.Register("square", &UnaryKernel<SquareFn>::Create);
  registry.Register("scale", &ScaleKernel::Create);
}

}  // namespace weft::elementwise
