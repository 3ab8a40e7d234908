// accumulate: one pass over the sum.
#include <memory>

#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/optimizer/cpu_internal.h"

namespace weft::optimizer {
namespace {

constexpr int64_t kGrain = 8192;

class AccumulateKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, ".,.->."));
    return std::make_unique<AccumulateKernel>(spec.threads, extents.rows());
  }

  AccumulateKernel(int threads, int64_t elements) : threads_(threads), elements_(elements) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float* const x = static_cast<const float*>(inputs[0]);
    const float* const acc = static_cast<const float*>(inputs[1]);
    float* const y = static_cast<float*>(outputs[0]);
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

void RegisterAccumulate(KernelRegistry& registry) { registry.Register("accumulate", &AccumulateKernel::Create); }

}  // namespace weft::optimizer
