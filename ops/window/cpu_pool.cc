// Largest elements of windows and the gradient, for f32, bf16 and f16.
#include <limits>

#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/window/cpu_internal.h"
#include "ops/window/problem.h"

namespace weft::window {
namespace {

constexpr int64_t kBlock = 128;

template <typename T>
class MaxPoolKernel : public Kernel {
 public:
  MaxPoolKernel(const Windows& windows, int threads) : w_(windows), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    T* y = static_cast<T*>(outputs[0]);
    const int64_t row_elements = w_.dims[2].places * w_.inner;
    ParallelFor(threads_, w_.outer * w_.dims[0].places * w_.dims[1].places, GrainOf(row_elements * TapsOf(w_)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) Row(row, x, y + row * row_elements);
                });
    return absl::OkStatus();
  }

 private:
  void Row(int64_t row, const T* x, T* y) const {
    const int64_t p1 = row % w_.dims[1].places, p0 = row / w_.dims[1].places % w_.dims[0].places;
    x += row / (w_.dims[0].places * w_.dims[1].places) * ExtentsOf(w_) * w_.inner;
    for (int64_t p2 = 0; p2 < w_.dims[2].places; ++p2, y += w_.inner) {
      ForBlocks(w_.inner, kBlock, [&](int64_t first, int64_t count) {
        float largest[kBlock];
        std::fill_n(largest, count, -std::numeric_limits<float>::infinity());
        ForEachElement(w_, p0, p1, p2, [&](int64_t position, int64_t) {
          const T* from = x + position * w_.inner + first;
          for (int64_t c = 0; c < count; ++c) {
            const float value = Widen(from[c]);
            largest[c] = value > largest[c] || value != value ? value : largest[c];
          }
        });
        for (int64_t c = 0; c < count; ++c) y[first + c] = Narrow<T>(largest[c]);
      });
    }
  }

  const Windows w_;
  const int threads_;
};

// An element is the first largest of a window if it is the result and none before it is.
template <typename T>
class MaxPoolGradKernel : public Kernel {
 public:
  MaxPoolGradKernel(const Windows& windows, int threads) : w_(windows), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* dy = static_cast<const T*>(inputs[0]);
    const T* x = static_cast<const T*>(inputs[1]);
    const T* y = static_cast<const T*>(inputs[2]);
    T* dx = static_cast<T*>(outputs[0]);
    const int64_t row_elements = w_.dims[2].extent * w_.inner;
    ParallelFor(threads_, w_.outer * w_.dims[0].extent * w_.dims[1].extent, GrainOf(row_elements * TapsOf(w_)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) Row(row, dy, x, y, dx + row * row_elements);
                });
    return absl::OkStatus();
  }

 private:
  void Row(int64_t row, const T* dy, const T* x, const T* y, T* dx) const {
    const int64_t d1 = row % w_.dims[1].extent, d0 = row / w_.dims[1].extent % w_.dims[0].extent;
    const int64_t outer = row / (w_.dims[0].extent * w_.dims[1].extent);
    dy += outer * PlacesOf(w_) * w_.inner;
    y += outer * PlacesOf(w_) * w_.inner;
    x += outer * ExtentsOf(w_) * w_.inner;
    for (int64_t d2 = 0; d2 < w_.dims[2].extent; ++d2, dx += w_.inner) {
      const int64_t position = (d0 * w_.dims[1].extent + d1) * w_.dims[2].extent + d2;
      ForBlocks(w_.inner, kBlock, [&](int64_t first, int64_t count) {
        float sums[kBlock] = {};
        ForEachWindow(w_, d0, d1, d2, [&](const Sight& sight) {
          const int64_t at = sight.place * w_.inner + first;
          AddWhereFirst(sight, dy + at, x + first, y + at, position, count, sums);
        });
        for (int64_t c = 0; c < count; ++c) dx[first + c] = Narrow<T>(sums[c]);
      });
    }
  }

  // `dy` and `y` are those of the window, `x` of the image.
  void AddWhereFirst(const Sight& sight, const T* dy, const T* x, const T* y, int64_t position, int64_t count,
                     float* sums) const {
    float gradient[kBlock], largest[kBlock];
    const T* own = x + position * w_.inner;
    for (int64_t c = 0; c < count; ++c) {
      largest[c] = Widen(y[c]);
      gradient[c] = Widen(own[c]) == largest[c] ? Widen(dy[c]) : 0.0f;
    }
    ForEachElement(w_, sight.p0, sight.p1, sight.p2, [&](int64_t other, int64_t tap) {
      if (tap >= sight.tap) return;
      const T* earlier = x + other * w_.inner;
      for (int64_t c = 0; c < count; ++c) gradient[c] = Widen(earlier[c]) == largest[c] ? 0.0f : gradient[c];
    });
    for (int64_t c = 0; c < count; ++c) sums[c] += gradient[c];
  }

  const Windows w_;
  const int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPool(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, MaxPoolWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<MaxPoolKernel<decltype(zero)>>(windows, spec.threads);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPoolGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, MaxPoolGradWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<MaxPoolGradKernel<decltype(zero)>>(windows, spec.threads);
  });
}

}  // namespace weft::window
