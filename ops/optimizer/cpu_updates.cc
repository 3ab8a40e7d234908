// sgd, sgd_momentum, adam and accumulate: one pass over the parameters each.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
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

// The number of the step, from 1: input `at` if there is one, else that of the run. 0: nothing is updated.
double StepNumber(const RunContext& context, absl::Span<const void* const> inputs, int at) {
  const bool given = static_cast<int>(inputs.size()) > at;
  return given ? static_cast<double>(*In(inputs, at)) : static_cast<double>(context.step + 1);
}

// A skipped step: output `o` becomes what input `from[o]` is.
absl::Status Keep(int64_t elements, std::initializer_list<int> from, absl::Span<const void* const> inputs,
                  absl::Span<void* const> outputs) {
  int o = 0;
  for (int i : from) {
    if (outputs[o] != inputs[i]) std::memcpy(outputs[o], inputs[i], static_cast<size_t>(elements) * sizeof(float));
    ++o;
  }
  return absl::OkStatus();
}

template <typename G>
class SgdKernel : public Kernel {
 public:
  SgdKernel(int threads, int64_t elements, float decay) : threads_(threads), elements_(elements), decay_(decay) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    if (StepNumber(context, inputs, 4) == 0) return Keep(elements_, {0}, inputs, outputs);
    const float* p = In(inputs, 0);
    const G* g = In<G>(inputs, 1);
    const float lr = *In(inputs, 2), scale = *In(inputs, 3), decay = decay_;
    float* p2 = Out(outputs, 0);
    ParallelFor(threads_, elements_, kGrain, [=](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) p2[i] = p[i] - lr * (Widen(g[i]) * scale + decay * p[i]);
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  float decay_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSgd(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents = MatchUpdate(spec, ".,any:.", ".");
  if (!extents.ok()) return extents.status();
  absl::StatusOr<double> decay = FloatAttribute(spec, "weight_decay", 0);
  if (!decay.ok()) return decay.status();
  return MakeFor<SgdKernel>(spec.inputs[1], spec.threads, extents->rows(), static_cast<float>(*decay));
}

template <typename G>
class SgdMomentumKernel : public Kernel {
 public:
  SgdMomentumKernel(int threads, int64_t elements, float momentum, float decay)
      : threads_(threads), elements_(elements), momentum_(momentum), decay_(decay) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    if (StepNumber(context, inputs, 5) == 0) return Keep(elements_, {0, 2}, inputs, outputs);
    const float *p = In(inputs, 0), *v = In(inputs, 2);
    const G* g = In<G>(inputs, 1);
    const float lr = *In(inputs, 3), scale = *In(inputs, 4), momentum = momentum_, decay = decay_;
    float *p2 = Out(outputs, 0), *v2 = Out(outputs, 1);
    ParallelFor(threads_, elements_, kGrain, [=](int64_t begin, int64_t end) {
      WEFT_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) {
        const float velocity = momentum * v[i] + (Widen(g[i]) * scale + decay * p[i]);
        p2[i] = p[i] - lr * velocity;
        v2[i] = velocity;
      }
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  float momentum_, decay_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSgdMomentum(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents = MatchUpdate(spec, ".,any:.,.", ".,.");
  if (!extents.ok()) return extents.status();
  absl::StatusOr<double> decay = FloatAttribute(spec, "weight_decay", 0);
  if (!decay.ok()) return decay.status();
  absl::StatusOr<double> momentum = spec.attributes.Float("momentum");
  if (!momentum.ok()) return momentum.status();
  return MakeFor<SgdMomentumKernel>(spec.inputs[1], spec.threads, extents->rows(), static_cast<float>(*momentum),
                                    static_cast<float>(*decay));
}

struct AdamOptions {
  double beta1, beta2, eps, decay;
  bool decoupled;
};

template <typename G>
class AdamKernel : public Kernel {
 public:
  AdamKernel(int threads, int64_t elements, AdamOptions options)
      : threads_(threads), elements_(elements), options_(options) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const double t = StepNumber(context, inputs, 6);
    if (t == 0) return Keep(elements_, {0, 2, 3}, inputs, outputs);
    const double lr = *In(inputs, 4);
    Constants c;
    c.scale = *In(inputs, 5);
    c.beta1 = static_cast<float>(options_.beta1);
    c.beta2 = static_cast<float>(options_.beta2);
    c.rest1 = static_cast<float>(1 - options_.beta1);
    c.rest2 = static_cast<float>(1 - options_.beta2);
    c.rate = static_cast<float>(lr / (1 - std::pow(options_.beta1, t)));
    c.correction = static_cast<float>(1 / (1 - std::pow(options_.beta2, t)));
    c.eps = static_cast<float>(options_.eps);
    c.coupled = options_.decoupled ? 0.0f : static_cast<float>(options_.decay);
    c.shrink = options_.decoupled ? static_cast<float>(lr * options_.decay) : 0.0f;
    ParallelFor(threads_, elements_, kGrain,
                [&](int64_t begin, int64_t end) { Update(c, inputs, outputs, begin, end); });
    return absl::OkStatus();
  }

 private:
  // What is the same for all elements of one step.
  struct Constants {
    float scale;         // of the gradient
    float beta1, rest1;  // rest = 1 - beta
    float beta2, rest2;
    float rate;        // lr / (1 - beta1^t)
    float correction;  // 1 / (1 - beta2^t)
    float eps;
    float coupled;  // weight decay that goes through the moments
    float shrink;   // lr times the weight decay that does not
  };

  static void Update(const Constants c, absl::Span<const void* const> inputs, absl::Span<void* const> outputs,
                     int64_t begin, int64_t end) {
    const float *p = In(inputs, 0), *m = In(inputs, 2), *v = In(inputs, 3);
    const G* g = In<G>(inputs, 1);
    float *p2 = Out(outputs, 0), *m2 = Out(outputs, 1), *v2 = Out(outputs, 2);
    WEFT_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      const float gradient = Widen(g[i]) * c.scale + c.coupled * p[i];
      const float first = c.beta1 * m[i] + c.rest1 * gradient;
      const float second = c.beta2 * v[i] + c.rest2 * (gradient * gradient);
      const float step = c.rate * first / (std::sqrt(second * c.correction) + c.eps);
      p2[i] = (p[i] - c.shrink * p[i]) - step;
      m2[i] = first;
      v2[i] = second;
    }
  }

  int threads_;
  int64_t elements_;
  AdamOptions options_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateAdam(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents = MatchUpdate(spec, ".,any:.,.,.", ".,.,.");
  if (!extents.ok()) return extents.status();
  absl::StatusOr<double> beta1 = spec.attributes.Float("beta1"), beta2 = spec.attributes.Float("beta2");
  absl::StatusOr<double> eps = spec.attributes.Float("eps"), decay = FloatAttribute(spec, "weight_decay", 0);
  absl::StatusOr<double> decoupled = FloatAttribute(spec, "decoupled", 0);
  for (const absl::Status& status :
       {beta1.status(), beta2.status(), eps.status(), decay.status(), decoupled.status()}) {
    if (!status.ok()) return status;
  }
  for (auto [name, beta] : {std::pair{"beta1", *beta1}, {"beta2", *beta2}}) {
    if (!(beta >= 0 && beta < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute `", name, "`: expected 0 or more and less than 1, got ", beta));
    }
  }
  const AdamOptions options{*beta1, *beta2, *eps, *decay, *decoupled != 0};
  return MakeFor<AdamKernel>(spec.inputs[1], spec.threads, extents->rows(), options);
}

class AccumulateKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    absl::StatusOr<Extents> extents = MatchSpec(spec, ".,.->.");
    if (!extents.ok()) return extents.status();
    return std::make_unique<AccumulateKernel>(spec.threads, extents->rows());
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
  registry.Register("sgd", &CreateSgd);
  registry.Register("sgd_momentum", &CreateSgdMomentum);
  registry.Register("adam", &CreateAdam);
  registry.Register("accumulate", &AccumulateKernel::Create);
}

}  // namespace weft::optimizer
