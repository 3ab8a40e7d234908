// sin, cos and power, block by block: what is rare or depends on the exponent is looked at once a block.
#include <algorithm>
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

constexpr int64_t kBlock = 512;

struct SinFn {
  static float Near(float x) { return Sin(x); }
  static double Far(double x) { return std::sin(x); }
};
struct CosFn {
  static float Near(float x) { return Cos(x); }
  static double Far(double x) { return std::cos(x); }
};

// Within 2 ulp where |x| <= kLargestAngle, correctly rounded or next to that beyond.
template <typename Fn>
struct Angle {
  void Apply(const float* x, float* y, int64_t n) const {
    bool far = false;
    for (int64_t i = 0; i < n; ++i) far |= std::fabs(x[i]) > kLargestAngle;
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = Fn::Near(x[i]);
    if (!far) return;
    for (int64_t i = 0; i < n; ++i) {
      if (std::fabs(x[i]) > kLargestAngle) y[i] = static_cast<float>(Fn::Far(x[i]));
    }
  }
};

// Exponents that are whole numbers, or those and a half, are products in double; others take libm's pow in double.
// Either way a result is within 1 ulp.
struct Power {
  explicit Power(double exponent)
      : exponent(exponent),
        whole(static_cast<int64_t>(std::min(std::fabs(exponent), 1e6))),
        half(std::fabs(exponent) - static_cast<double>(whole) == 0.5),
        products(whole <= kMostWhole && (half || std::fabs(exponent) == static_cast<double>(whole))) {}

  void Apply(const float* x, float* y, int64_t n) const {
    if (!products) {
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(std::pow(static_cast<double>(x[i]), exponent));
      return;
    }
    double square[kBlock], product[kBlock];
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      square[i] = static_cast<double>(x[i]);
      product[i] = half ? std::sqrt(square[i]) : 1.0;
    }
    for (int64_t rest = whole; rest > 0; rest /= 2) {
      if (rest % 2 == 1) {
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) product[i] *= square[i];
      }
      WEFT_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) square[i] *= square[i];
    }
    const bool inverse = exponent < 0;
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(inverse ? 1.0 / product[i] : product[i]);
  }

  // A few products round by far less than a float.
  static constexpr int64_t kMostWhole = 64;
  double exponent;
  int64_t whole;
  bool half, products;
};

template <typename Fn, typename T>
class BlockKernel : public Kernel {
 public:
  BlockKernel(int threads, int64_t elements, Fn fn) : threads_(threads), elements_(elements), fn_(fn) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const T*>(inputs[0]);
    auto* y = static_cast<T*>(outputs[0]);
    ParallelFor(threads_, elements_, kGrain, [&](int64_t begin, int64_t end) {
      alignas(64) float from[kBlock], to[kBlock];
      for (int64_t at = begin; at < end; at += kBlock) {
        const int64_t n = std::min(kBlock, end - at);
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) from[i] = Widen(x[at + i]);
        fn_.Apply(from, to, n);
        WEFT_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) y[at + i] = Narrow<T>(to[i]);
      }
    });
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  Fn fn_;
};

template <typename Fn>
absl::StatusOr<std::unique_ptr<Kernel>> MakeBlocks(const KernelSpec& spec, Fn fn) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.->float:."));
  return MakeForFloat(extents.type(), [&](auto zero) {
    return std::make_unique<BlockKernel<Fn, decltype(zero)>>(spec.threads, extents.rows(), fn);
  });
}

template <typename Fn>
absl::StatusOr<std::unique_ptr<Kernel>> CreateAngle(const KernelSpec& spec) {
  return MakeBlocks(spec, Angle<Fn>());
}

absl::StatusOr<std::unique_ptr<Kernel>> CreatePower(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(double exponent, spec.attributes.Float("exponent"));
  return MakeBlocks(spec, Power(exponent));
}

}  // namespace

void RegisterBlocks(KernelRegistry& registry) {
  registry.Register("sin", &CreateAngle<SinFn>);
  registry.Register("cos", &CreateAngle<CosFn>);
  registry.Register("power", &CreatePower);
}

}  // namespace weft::elementwise
