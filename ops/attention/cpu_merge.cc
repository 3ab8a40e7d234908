// The CPU kernel `attention_merge`. Threads share out rows; results do not depend on the number of threads.
#include "ops/attention/cpu_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"

namespace weft::attention {
namespace {

constexpr int64_t kGrain = 8 * 1024;  // elements that are worth a thread

// An output may have the address of its input: a row is read before it is written.
template <typename T>
class MergeKernel : public Kernel {
 public:
  MergeKernel(const Extents& extents, int threads)
      : batch_(extents['b']), rows_(extents['s']), heads_(extents['n']), depth_(extents['d']), threads_(threads) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto* out = static_cast<const float*>(inputs[0]);
    const auto* lse = static_cast<const float*>(inputs[1]);
    const auto* more = static_cast<const T*>(inputs[2]);
    const auto* more_lse = static_cast<const float*>(inputs[3]);
    auto* both = static_cast<float*>(outputs[0]);
    auto* both_lse = static_cast<float*>(outputs[1]);
    ParallelFor(threads_, batch_ * rows_ * heads_, kGrain / (depth_ + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / (rows_ * heads_), row = i / heads_ % rows_, head = i % heads_;
        const int64_t of_row = (b * heads_ + head) * rows_ + row;
        both_lse[of_row] = Row(out + i * depth_, lse[of_row], more + i * depth_, more_lse[of_row], both + i * depth_);
      }
    });
    return absl::OkStatus();
  }

 private:
  float Row(const float* out, float lse, const T* more, float more_lse, float* both) const {
    const float most = std::max(lse, more_lse);
    const float shift = most == -std::numeric_limits<float>::infinity() ? 0.0f : most;
    const float a = std::exp(lse - shift), b = std::exp(more_lse - shift), sum = a + b;
    const float factor = sum == 0 ? 0.0f : a / sum, more_factor = sum == 0 ? 0.0f : b / sum;
    WEFT_INDEPENDENT
    for (int64_t c = 0; c < depth_; ++c) both[c] = factor * out[c] + more_factor * Widen(more[c]);
    return most + std::log(sum);
  }

  const int64_t batch_, rows_, heads_, depth_;
  const int threads_;
};

absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "bsnd,bns,float:bsnd,bns->bsnd,bns"));
  return MakeForFloat(spec.inputs[2].dtype,
                      [&](auto zero) { return std::make_unique<MergeKernel<decltype(zero)>>(extents, spec.threads); });
}

}  // namespace

void RegisterMergeKernel(KernelRegistry& registry) { registry.Register("attention_merge", &Create); }

}  // namespace weft::attention
