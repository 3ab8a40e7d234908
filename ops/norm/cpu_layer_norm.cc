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

// y = (x - mean) rstd w + b with rstd = 1 / sqrt(variance + eps); the variance is the mean of
// squared distances, in a second pass.
template <typename T, typename W>
class LayerNormKernel : public Kernel {
 public:
  LayerNormKernel(const Extents& extents, float eps, int threads)
      : rows_(extents.rows()), width_(extents['h']), eps_(eps), threads_(threads) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    const W* w = static_cast<const W*>(inputs[1]);
    const W* b = static_cast<const W*>(inputs[2]);
    T* y = static_cast<T*>(outputs[0]);
    float* mean = outputs.size() > 1 ? static_cast<float*>(outputs[1]) : nullptr;
    float* rstd = outputs.size() > 1 ? static_cast<float*>(outputs[2]) : nullptr;
    ParallelFor(threads_, rows_, kGrain / (width_ + 1) + 1, [=, this](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        float row_mean, row_rstd;
        Row(x + row * width_, w, b, y + row * width_, &row_mean, &row_rstd);
        if (mean) mean[row] = row_mean;
        if (rstd) rstd[row] = row_rstd;
      }
    });
    return absl::OkStatus();
  }

 private:
  void Row(const T* x, const W* w, const W* b, T* y, float* mean_out, float* rstd_out) const {
    const float count = static_cast<float>(width_);
    const float mean = SumLanes(width_, [=](int64_t i) { return Widen(x[i]); }) / count;
    const float variance =
        SumLanes(width_, [=](int64_t i) { return (Widen(x[i]) - mean) * (Widen(x[i]) - mean); }) / count;
    const float rstd = 1.0f / std::sqrt(variance + eps_);
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < width_; ++i) y[i] = Narrow<T>((Widen(x[i]) - mean) * rstd * Widen(w[i]) + Widen(b[i]));
    *mean_out = mean;
    *rstd_out = rstd;
  }

  const int64_t rows_, width_;
  const float eps_;
  const int threads_;
};

// With n = (x - mean) rstd and g = dy w: dx = rstd (g - avg(g) - n avg(g n)), dw = sum dy n, db = sum dy
// (Ba, Kiros and Hinton, "Layer normalization", 2016, differentiated).
template <typename T, typename W>
class LayerNormGradKernel : public Kernel {
 public:
  LayerNormGradKernel(const Extents& extents, const KernelSpec& spec)
      : width_(extents['h']), blocks_(extents.rows(), 2 * extents['h'], spec) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const T* dy = static_cast<const T*>(inputs[0]);
    const T* x = static_cast<const T*>(inputs[1]);
    const W* w = static_cast<const W*>(inputs[2]);
    const float* mean = static_cast<const float*>(inputs[3]);
    const float* rstd = static_cast<const float*>(inputs[4]);
    T* dx = static_cast<T*>(outputs[0]);
    blocks_.ForRows([=, this](int64_t row, float* partial) {
      const int64_t at = row * width_;
      Row(dy + at, x + at, w, mean[row], rstd[row], dx + at, partial, partial + width_);
    });
    blocks_.Sum(0, width_, static_cast<W*>(outputs[1]));
    blocks_.Sum(width_, width_, static_cast<W*>(outputs[2]));
    return absl::OkStatus();
  }

 private:
  void Row(const T* dy, const T* x, const W* w, float mean, float rstd, T* dx, float* dw, float* db) const {
    const float share = 1.0f / static_cast<float>(width_);
    const float g_mean = share * SumLanes(width_, [=](int64_t i) { return Widen(dy[i]) * Widen(w[i]); });
    const float gn_mean =
        share * SumLanes(width_, [=](int64_t i) { return Widen(dy[i]) * Widen(w[i]) * ((Widen(x[i]) - mean) * rstd); });
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < width_; ++i) {
      const float gradient = Widen(dy[i]);
      const float n = (Widen(x[i]) - mean) * rstd;
      dw[i] += gradient * n;
      db[i] += gradient;
      dx[i] = Narrow<T>(rstd * (gradient * Widen(w[i]) - g_mean - n * gn_mean));
    }
  }

  const int64_t width_;
  const RowBlocks blocks_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNorm(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, spec.outputs.size() == 3 ? "float:.h,any:h,any:h->float:.h,.,."
                                                                                  : "float:.h,any:h,any:h->float:.h"));
  WEFT_ASSIGN_OR_RETURN(double eps, spec.attributes.Float("eps"));
  return MakeNorm<LayerNormKernel>({&spec.inputs[0], &spec.inputs[1], &spec.inputs[2]}, extents,
                                   static_cast<float>(eps), spec.threads);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNormGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.h,float:.h,any:h,.,.->float:.h,any:h,any:h"));
  return MakeNorm<LayerNormGradKernel>({&spec.inputs[0], &spec.inputs[2], &spec.outputs[1], &spec.outputs[2]}, extents,
                                       spec);
}

}  // namespace weft::norm
