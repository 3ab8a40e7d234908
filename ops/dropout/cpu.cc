// CPU kernel of dropout (f32): y = x / (1 - rate) where the element is kept,
// else 0. It may be in place.
//
// Whether an element is kept is a function of the run's seed, the op's seed,
// the step and the element's place in the whole batch, e = its index in the
// global tensor + micro_batch * the elements of that tensor: the key is
// MixSeed(context.seed, seed), the event the step, and the element is kept iff
// UniformFloat(PhiloxElement(key, step, e)) >= rate. So neither the layout nor
// (for tensors whose first dim is the batch) the number of micro-batches
// changes what is dropped, and the op applied to a gradient drops the same.
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/philox_lanes.h"
#include "ops/abi/tile_runs.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"

namespace weft {
namespace {

template <typename T>
class DropoutKernel : public Kernel {
 public:
  // UniformFloat(word) is the word's upper 24 bits times 2^-24, so comparing
  // those bits with ceil(rate 2^24) is exact.
  DropoutKernel(const KernelSpec& spec, double rate, uint64_t seed)
      : threads_(spec.threads),
        seed_(seed),
        threshold_(static_cast<int32_t>(std::ceil(std::ldexp(rate, 24)))),
        scale_(static_cast<float>(1 / (1 - rate))),
        runs_(spec.inputs[0]) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const T*>(inputs[0]);
    auto* y = static_cast<T*>(outputs[0]);
    const uint64_t key = MixSeed(context.seed, seed_);
    const auto event = static_cast<uint64_t>(context.step);
    const int64_t batch = context.micro_batch * runs_.global_elements();
    ParallelFor(threads_, runs_.elements(), kGrain, [&](int64_t begin, int64_t end) {
      runs_.ForRange(begin, end, [&](int64_t local, int64_t global, int64_t count) {
        ForPhiloxWords(key, event, static_cast<uint64_t>(batch + global), count,
                       [&](int64_t offset, const uint32_t* words, int64_t n) {
                         Select(words, x + local + offset, y + local + offset, n);
                       });
      });
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGrain = 8192;

  void Select(const uint32_t* words, const T* x, T* y, int64_t n) const {
    const int32_t threshold = threshold_;
    const float scale = scale_;
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const float value = Widen(x[i]) * scale;
      y[i] = Narrow<T>(static_cast<int32_t>(words[i] >> 8) >= threshold ? value : 0.0f);
    }
  }

  int threads_;
  uint64_t seed_;
  int32_t threshold_;
  float scale_;
  TileRuns runs_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateDropout(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.->float:."));
  WEFT_ASSIGN_OR_RETURN(double rate, spec.attributes.Float("rate"));
  if (!(rate >= 0 && rate < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `rate`: expected 0 or more and less than 1, got ", rate));
  }
  WEFT_ASSIGN_OR_RETURN(int64_t seed, spec.attributes.Int("seed"));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<DropoutKernel<decltype(zero)>>(spec, rate, static_cast<uint64_t>(seed));
  });
}

}  // namespace

void RegisterDropoutKernels(KernelRegistry& registry) { registry.Register("dropout", &CreateDropout); }

}  // namespace weft
