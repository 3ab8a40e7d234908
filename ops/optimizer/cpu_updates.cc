// sgd, sgd_momentum, adam and accumulate: one pass over the parameters each.
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/optimizer/cpu_internal.h"
#include "ops/optimizer/match_update.h"

namespace weft::optimizer {
namespace {

constexpr int64_t kGrain = 8192;

template <typename T = float>
const T* In(absl::Span<const void* const> inputs, int i) {
  return static_cast<const T*>(inputs[i]);
}
float* Out(absl::Span<void* const> outputs, int i) { return static_cast<float*>(outputs[i]); }

// What a rule has at hand for one step of all elements.
struct Moment {
  double t;   // the number of the step, from 1
  double lr;  // of float32
  float scale;
};

// One pass over the parameters. `Rule` says how many tensors of state it keeps (kState), what is the same for all
// elements of a step (`Step At(Moment)`) and what a step makes of one element and its state (`float Next(p, g, state)`
// of Step, which overwrites `state`; `g` is not yet scaled). Where `step` is given and 0, all stays as it is, whatever
// the rule.
template <typename Rule, typename G>
class UpdateKernel : public Kernel {
 public:
  UpdateKernel(int threads, int64_t elements, Rule rule) : threads_(threads), elements_(elements), rule_(rule) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    constexpr int kLr = 2 + kState, kStep = kLr + 2;
    const bool given = static_cast<int>(inputs.size()) > kStep;
    const double t = given ? static_cast<double>(*In(inputs, kStep)) : static_cast<double>(context.step + 1);
    if (t == 0) return Keep(inputs, outputs);
    const auto step = rule_.At({.t = t, .lr = *In(inputs, kLr), .scale = *In(inputs, kLr + 1)});
    ParallelFor(threads_, elements_, kGrain,
                [&](int64_t begin, int64_t end) { Update(step, inputs, outputs, begin, end); });
    return absl::OkStatus();
  }

 private:
  static constexpr int kState = Rule::kState;

  absl::Status Keep(absl::Span<const void* const> inputs, absl::Span<void* const> outputs) const {
    for (int o = 0; o < 1 + kState; ++o) {
      const void* const old = inputs[o == 0 ? 0 : o + 1];
      if (outputs[o] != old) std::memcpy(outputs[o], old, static_cast<size_t>(elements_) * sizeof(float));
    }
    return absl::OkStatus();
  }

  static void Update(const typename Rule::Step step, absl::Span<const void* const> inputs,
                     absl::Span<void* const> outputs, int64_t begin, int64_t end) {
    const float* p = In(inputs, 0);
    const G* g = In<G>(inputs, 1);
    float* p2 = Out(outputs, 0);
    std::array<const float*, kState> old;
    std::array<float*, kState> next;
    for (int k = 0; k < kState; ++k) {
      old[k] = In(inputs, 2 + k);
      next[k] = Out(outputs, 1 + k);
    }
    WEFT_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      std::array<float, kState> state;
      for (int k = 0; k < kState; ++k) state[k] = old[k][i];
      p2[i] = step.Next(p[i], Widen(g[i]), state);
      for (int k = 0; k < kState; ++k) next[k][i] = state[k];
    }
  }

  int threads_;
  int64_t elements_;
  Rule rule_;
};

// What registers: `Rule::Read` makes the rule of a spec's attributes.
template <typename Rule>
absl::StatusOr<std::unique_ptr<Kernel>> CreateUpdate(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(const int64_t elements, MatchUpdate(spec, Rule::kState));
  WEFT_ASSIGN_OR_RETURN(const Rule rule, Rule::Read(spec));
  return MakeForFloat(spec.inputs[1].dtype, [&](auto zero) {
    return std::make_unique<UpdateKernel<Rule, decltype(zero)>>(spec.threads, elements, rule);
  });
}

struct Sgd {
  static constexpr int kState = 0;
  double weight_decay = 0;

  static absl::StatusOr<Sgd> Read(const KernelSpec& spec) {
    Sgd it;
    WEFT_RETURN_IF_ERROR(ReadNumbers(spec, {{"weight_decay", &it.weight_decay}}));
    return it;
  }

  struct Step {
    float lr, scale, decay;

    float Next(float p, float g, std::array<float, 0>&) const { return p - lr * (g * scale + decay * p); }
  };
  Step At(const Moment& now) const { return {static_cast<float>(now.lr), now.scale, static_cast<float>(weight_decay)}; }
};

struct SgdMomentum {
  static constexpr int kState = 1;
  double momentum = 0, weight_decay = 0;

  static absl::StatusOr<SgdMomentum> Read(const KernelSpec& spec) {
    SgdMomentum it;
    WEFT_RETURN_IF_ERROR(ReadNumbers(spec, {{"momentum", &it.momentum}, {"weight_decay", &it.weight_decay}}));
    return it;
  }

  struct Step {
    float lr, scale, momentum, decay;

    float Next(float p, float g, std::array<float, 1>& v) const {
      v[0] = momentum * v[0] + (g * scale + decay * p);
      return p - lr * v[0];
    }
  };
  Step At(const Moment& now) const {
    return {static_cast<float>(now.lr), now.scale, static_cast<float>(momentum), static_cast<float>(weight_decay)};
  }
};

struct Adam {
  static constexpr int kState = 2;
  AdamNumbers numbers;

  static absl::StatusOr<Adam> Read(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(const AdamNumbers numbers, AdamNumbers::Read(spec));
    return Adam{numbers};
  }

  struct Step {
    float scale;         // of the gradient
    float beta1, rest1;  // rest = 1 - beta
    float beta2, rest2;
    float rate;        // lr / (1 - beta1^t)
    float correction;  // 1 / (1 - beta2^t)
    float eps;
    float coupled;  // weight decay that goes through the moments
    float shrink;   // lr times the weight decay that does not

    float Next(float p, float g, std::array<float, 2>& moments) const {
      const float gradient = g * scale + coupled * p;
      const float first = beta1 * moments[0] + rest1 * gradient;
      const float second = beta2 * moments[1] + rest2 * (gradient * gradient);
      const float step = rate * first / (std::sqrt(second * correction) + eps);
      moments = {first, second};
      return (p - shrink * p) - step;
    }
  };
  Step At(const Moment& now) const {
    const bool decoupled = numbers.decoupled != 0;
    return {.scale = now.scale,
            .beta1 = static_cast<float>(numbers.beta1),
            .rest1 = static_cast<float>(1 - numbers.beta1),
            .beta2 = static_cast<float>(numbers.beta2),
            .rest2 = static_cast<float>(1 - numbers.beta2),
            .rate = static_cast<float>(now.lr / (1 - std::pow(numbers.beta1, now.t))),
            .correction = static_cast<float>(1 / (1 - std::pow(numbers.beta2, now.t))),
            .eps = static_cast<float>(numbers.eps),
            .coupled = decoupled ? 0.0f : static_cast<float>(numbers.weight_decay),
            .shrink = decoupled ? static_cast<float>(now.lr * numbers.weight_decay) : 0.0f};
  }
};

class AccumulateKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, ".,.->."));
    return std::make_unique<AccumulateKernel>(spec.threads, extents.rows());
  }

  AccumulateKernel(int threads, int64_t elements) : threads_(threads), elements_(elements) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float *x = In(inputs, 0), *acc = In(inputs, 1);
    float* y = Out(outputs, 0);
    const bool first = context.micro_batch == 0;  // what acc holds is of the last step
    ParallelFor(threads_, elements_, kGrain, [=](int64_t begin, int64_t end) {
      if (first) {
        WEFT_INDEPENDENT
        for (int64_t i = begin; i < end; ++i) y[i] = x[i];
      } else {
        WEFT_INDEPENDENT
        for (int64_t i = begin; i < end; ++i) y[i] = acc[i] + x[i];
      }
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
};

}  // namespace

void RegisterUpdates(KernelRegistry& registry) {
  registry.Register("sgd", &CreateUpdate<Sgd>);
  registry.Register("sgd_momentum", &CreateUpdate<SgdMomentum>);
  registry.Register("adam", &CreateUpdate<Adam>);
  registry.Register("accumulate", &AccumulateKernel::Create);
}

}  // namespace weft::optimizer
