#include <cmath>
#include <memory>

#include "ops/abi/float_types.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/math/reduce_lanes.h"
#include "ops/norm/cpu_factories.h"
#include "ops/norm/cpu_row_blocks.h"
#include "ops/norm/cpu_types.h"

namespace weft::norm {
namespace {

constexpr int64_t kGrain = 8 * 1024;  // elements that are worth a thread

// y = x rstd w with rstd = 1 / sqrt(avg(x^2) + eps) (Zhang and Sennrich, "Root mean square layer
// normalization", 2019).
template <typename T, typename W>
class RmsNormKernel : public Kernel {
 public:
  RmsNormKernel(const Extents& extents, float eps, int threads)
      : rows_(extents.rows()), width_(extents['h']), eps_(eps), threads_(threads) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    const W* w = static_cast<const W*>(inputs[1]);
    T* y = static_cast<T*>(outputs[0]);
    float* rstd = outputs.size() > 1 ? static_cast<float*>(outputs[1]) : nullptr;
    ParallelFor(threads_, rows_, kGrain / (width_ + 1) + 1, [=, this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const float row_rstd = Row(x + row * width_, w, y + row * width_);
        if (rstd) rstd[row] = row_rstd;
      }
    });
    return absl::OkStatus();
  }

 private:
  float Row(const T* x, const W* w, T* y) const {
    const float square =
        SumLanes(width_, [=](int64_t i) { return Widen(x[i]) * Widen(x[i]); }) / static_cast<float>(width_);
    const float rstd = 1.0f / std::sqrt(square + eps_);
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < width_; ++i) y[i] = Narrow<T>(Widen(x[i]) * rstd * Widen(w[i]));
    return rstd;
  }

  const int64_t rows_, width_;
  const float eps_;
  const int threads_;
};

// With n = x rstd and g = dy w: dx = rstd (g - n avg(g n)), dw = sum dy n.
template <typename T, typename W>
class RmsNormGradKernel : public Kernel {
 public:
  RmsNormGradKernel(const Extents& extents, const KernelSpec& spec)
      : width_(extents['h']), blocks_(extents.rows(), extents['h'], spec) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* dy = static_cast<const T*>(inputs[0]);
    const T* x = static_cast<const T*>(inputs[1]);
    const W* w = static_cast<const W*>(inputs[2]);
    const float* rstd = static_cast<const float*>(inputs[3]);
    T* dx = static_cast<T*>(outputs[0]);
    blocks_.ForRows([=, this](int64_t row, float* partial) {
      const int64_t at = row * width_;
      Row(dy + at, x + at, w, rstd[row], dx + at, partial);
    });
    blocks_.Sum(0, width_, static_cast<W*>(outputs[1]));
    return absl::OkStatus();
  }

 private:
  void Row(const T* dy, const T* x, const W* w, float rstd, T* dx, float* dw) const {
    const float gn_mean =
        SumLanes(width_, [=](int64_t i) { return Widen(dy[i]) * Widen(w[i]) * (Widen(x[i]) * rstd); }) /
        static_cast<float>(width_);
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < width_; ++i) {
      const float gradient = Widen(dy[i]);
      const float n = Widen(x[i]) * rstd;
      dw[i] += gradient * n;
      dx[i] = Narrow<T>(rstd * (gradient * Widen(w[i]) - n * gn_mean));
    }
  }

  const int64_t width_;
  const RowBlocks blocks_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateRmsNorm(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, spec.outputs.size() == 2 ? "float:.h,any:h->float:.h,."
                                                                                  : "float:.h,any:h->float:.h"));
  WEFT_ASSIGN_OR_RETURN(double eps, spec.attributes.Float("eps"));
  return MakeNorm<RmsNormKernel>({&spec.inputs[0], &spec.inputs[1]}, extents, static_cast<float>(eps), spec.threads);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateRmsNormGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.h,float:.h,any:h,.->float:.h,any:h"));
  return MakeNorm<RmsNormGradKernel>({&spec.inputs[0], &spec.inputs[2], &spec.outputs[1]}, extents, spec);
}

}  // namespace weft::norm
