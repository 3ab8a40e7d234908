// CPU kernels of random_normal and random_uniform (f32, no operands): also
// initialisers of parameters.
//
// An element is a function of the run's seed, the op's seed, the step and the
// element's index e in the whole batch: micro_batch * the elements of the global
// tensor + the index there. With W = the words of
// Philox(MixSeed(context.seed, seed), e / 4, step):
//  - uniform: low + (high - low) UniformFloat(W[e % 4]), below `high`;
//  - normal (Box and Muller, 1958): two neighbours share a pair of words,
//    (W[0], W[1]) or (W[2], W[3]). With u = first 2^-32 + 2^-33 in f32 and v =
//    UniformFloat(second), the even element is mean + std r cos(2 pi v), the
//    odd one mean + std r sin(2 pi v), r = sqrt(-2 log u) < 6.77. Computed in
//    f32: |error| <= std 4e-6 + 2^-24 |result|.
#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/philox_lanes.h"
#include "ops/abi/tile_runs.h"
#include "ops/abi/vectorize.h"
#include "ops/families.h"
#include "ops/math/vector_math.h"

namespace weft {
namespace {

constexpr int64_t kGrain = 8192;

// The sine (kSine) or cosine of v turns, 0 <= v < 1. v = q / 4 + r with
// |r| <= 1/8, exactly; sine and cosine of 2 pi r are Taylor polynomials of
// degree 9 and 8, whose next terms are below 2e-9 and 3e-8.
template <bool kSine>
WEFT_ALWAYS_INLINE float Turn(float v) {
  const auto quarter = static_cast<int32_t>(v * 4.0f + 0.5f);
  const float a = (v - static_cast<float>(quarter) * 0.25f) * 6.28318531f;
  const float s = a * a;
  const float p = -1.66666667e-1f + s * (8.33333333e-3f + s * (-1.98412698e-4f + s * 2.75573192e-6f));
  const float sine = a * (1.0f + s * p);
  const float cosine = 1.0f + s * (-0.5f + s * (4.16666667e-2f + s * (-1.38888889e-3f + s * 2.48015873e-5f)));
  const int32_t phase = kSine ? quarter : quarter + 1;  // cos(a) = sin(a + a quarter)
  const float value = (phase & 1) != 0 ? cosine : sine;
  return (phase & 2) != 0 ? -value : value;
}

struct Normal {
  float mean, std;

  // Element 2 i and 2 i + 1 from words 2 i and 2 i + 1.
  void Batch(const uint32_t* words, float* y, int64_t n) const {
    const float middle = mean, deviation = std;
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n / 2; ++i) {
      const float u = static_cast<float>(words[2 * i]) * 0x1.0p-32f + 0x1.0p-33f;
      const float v = UniformFloat(words[2 * i + 1]);
      const float radius = std::sqrt(-2.0f * Log(u)) * deviation;
      y[2 * i] = middle + radius * Turn<false>(v);
      y[2 * i + 1] = middle + radius * Turn<true>(v);
    }
  }
};

struct Uniform {
  float low, span, last;

  void Batch(const uint32_t* words, float* y, int64_t n) const {
    const float from = low, width = span, greatest = last;
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const float value = from + width * UniformFloat(words[i]);
      y[i] = value < greatest ? value : greatest;
    }
  }
};

template <typename Distribution>
class RandomKernel : public Kernel {
 public:
  RandomKernel(const KernelSpec& spec, uint64_t seed, Distribution distribution)
      : threads_(spec.threads), seed_(seed), runs_(spec.outputs[0]), distribution_(distribution) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    auto* y = static_cast<float*>(outputs[0]);
    const uint64_t key = MixSeed(context.seed, seed_);
    const auto event = static_cast<uint64_t>(context.step);
    const int64_t batch = context.micro_batch * runs_.global_elements();
    ParallelFor(threads_, runs_.elements(), kGrain, [&](int64_t begin, int64_t end) {
      runs_.ForRange(begin, end, [&](int64_t local, int64_t global, int64_t count) {
        FillRun(key, event, batch + global, count, y + local);
      });
    });
    return absl::OkStatus();
  }

 private:
  // Whole blocks are made, and the part that lies in the run is kept: elements
  // that share words do not depend on where a run begins.
  void FillRun(uint64_t key, uint64_t event, int64_t first, int64_t n, float* y) const {
    alignas(64) float values[kPhiloxBatch];
    ForPhiloxBlocks(key, event, static_cast<uint64_t>(first), n, [&](int64_t at, const uint32_t* words, int64_t count) {
      distribution_.Batch(words, values, count);
      const int64_t begin = std::max<int64_t>(at, 0), end = std::min(at + count, n);
      std::copy_n(values + (begin - at), end - begin, y + begin);
    });
  }

  int threads_;
  uint64_t seed_;
  TileRuns runs_;
  Distribution distribution_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateNormal(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->*").status());
  WEFT_ASSIGN_OR_RETURN(double mean, spec.attributes.Float("mean"));
  WEFT_ASSIGN_OR_RETURN(double std, spec.attributes.Float("std"));
  WEFT_ASSIGN_OR_RETURN(int64_t seed, spec.attributes.Int("seed"));
  std::unique_ptr<Kernel> kernel = std::make_unique<RandomKernel<Normal>>(
      spec, static_cast<uint64_t>(seed), Normal{static_cast<float>(mean), static_cast<float>(std)});
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateUniform(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->*").status());
  WEFT_ASSIGN_OR_RETURN(double low, spec.attributes.Float("low"));
  WEFT_ASSIGN_OR_RETURN(double high, spec.attributes.Float("high"));
  WEFT_ASSIGN_OR_RETURN(int64_t seed, spec.attributes.Int("seed"));
  if (!(low <= high)) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `high`: expected ", low, " or more, got ", high));
  }
  const auto from = static_cast<float>(low), to = static_cast<float>(high);
  std::unique_ptr<Kernel> kernel = std::make_unique<RandomKernel<Uniform>>(
      spec, static_cast<uint64_t>(seed), Uniform{from, static_cast<float>(high - low), std::nextafter(to, from)});
  return kernel;
}

}  // namespace

void RegisterRandomKernels(KernelRegistry& registry) {
  registry.Register("random_normal", &CreateNormal);
  registry.Register("random_uniform", &CreateUniform);
}

}  // namespace weft
