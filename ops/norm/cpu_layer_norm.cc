#include <cmath>
#include <memory>

#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/math/reduce_lanes.h"
#include "ops/norm/cpu_factories.h"
#include "ops/norm/cpu_row_blocks.h"

namespace weft::norm {
namespace {

constexpr int64_t kGrain = 8 * 1024;  // elements that are worth a thread

// y = (x - mean) rstd w + b with rstd = 1 / sqrt(variance + eps); the variance is the mean of
// squared distances, in a second pass.
class LayerNormKernel : public Kernel {
 public:
  LayerNormKernel(const Extents& extents, float eps, int threads)
      : rows_(extents.rows()), width_(extents['h']), eps_(eps), threads_(threads) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float* x = static_cast<const float*>(inputs[0]);
    const float* w = static_cast<const float*>(inputs[1]);
    const float* b = static_cast<const float*>(inputs[2]);
    float* y = static_cast<float*>(outputs[0]);
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
  void Row(const float* x, const float* w, const float* b, float* y, float* mean_out, float* rstd_out) const {
    const float count = static_cast<float>(width_);
    const float mean = SumLanes(width_, [=](int64_t i) { return x[i]; }) / count;
    const float variance = SumLanes(width_, [=](int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / count;
    const float rstd = 1.0f / std::sqrt(variance + eps_);
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < width_; ++i) y[i] = (x[i] - mean) * rstd * w[i] + b[i];
    *mean_out = mean;
    *rstd_out = rstd;
  }

  const int64_t rows_, width_;
  const float eps_;
  const int threads_;
};

// With n = (x - mean) rstd and g = dy w: dx = rstd (g - avg(g) - n avg(g n)), dw = sum dy n, db = sum dy
// (Ba, Kiros and Hinton, "Layer normalization", 2016, differentiated).
class LayerNormGradKernel : public Kernel {
 public:
  LayerNormGradKernel(const Extents& extents, const KernelSpec& spec)
      : width_(extents['h']), blocks_(extents.rows(), 2 * extents['h'], spec) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const float* dy = static_cast<const float*>(inputs[0]);
    const float* x = static_cast<const float*>(inputs[1]);
    const float* w = static_cast<const float*>(inputs[2]);
    const float* mean = static_cast<const float*>(inputs[3]);
    const float* rstd = static_cast<const float*>(inputs[4]);
    float* dx = static_cast<float*>(outputs[0]);
    blocks_.ForRows([=, this](int64_t row, float* partial) {
      const int64_t at = row * width_;
      Row(dy + at, x + at, w, mean[row], rstd[row], dx + at, partial, partial + width_);
    });
    blocks_.Sum(0, width_, static_cast<float*>(outputs[1]));
    blocks_.Sum(width_, width_, static_cast<float*>(outputs[2]));
    return absl::OkStatus();
  }

 private:
  void Row(const float* dy, const float* x, const float* w, float mean, float rstd, float* dx, float* dw,
           float* db) const {
    const float share = 1.0f / static_cast<float>(width_);
    const float g_mean = share * SumLanes(width_, [=](int64_t i) { return dy[i] * w[i]; });
    const float gn_mean = share * SumLanes(width_, [=](int64_t i) { return dy[i] * w[i] * ((x[i] - mean) * rstd); });
    WEFT_INDEPENDENT
    for (int64_t i = 0; i < width_; ++i) {
      const float gradient = dy[i];
      const float n = (x[i] - mean) * rstd;
      dw[i] += gradient * n;
      db[i] += gradient;
      dx[i] = rstd * (gradient * w[i] - g_mean - n * gn_mean);
    }
  }

  const int64_t width_;
  const RowBlocks blocks_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNorm(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents = MatchSpec(spec, spec.outputs.size() == 3 ? ".h,h,h->.h,.,." : ".h,h,h->.h");
  if (!extents.ok()) return extents.status();
  absl::StatusOr<double> eps = spec.attributes.Float("eps");
  if (!eps.ok()) return eps.status();
  return std::make_unique<LayerNormKernel>(*extents, static_cast<float>(*eps), spec.threads);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNormGrad(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents = MatchSpec(spec, ".h,.h,h,.,.->.h,h,h");
  if (!extents.ok()) return extents.status();
  return std::make_unique<LayerNormGradKernel>(*extents, spec);
}

}  // namespace weft::norm
