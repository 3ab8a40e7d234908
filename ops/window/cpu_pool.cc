// Largest elements of windows and the gradient, for f32, bf16 and f16.
#include <limits>

#include "ops/abi/float_types.h"
#include "ops/window/cpu_internal.h"
#include "ops/window/problem.h"

namespace weft::window {
namespace {

template <typename T>
class MaxPoolKernel : public Kernel {
 public:
  MaxPoolKernel(const Windows& windows, int threads) : grid_(Grid::OfPlaces(windows)), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const int64_t inner = grid_.inner();
    grid_.ForEachRow(threads_, [&](int64_t outer, int64_t p0, int64_t p1, int64_t row) {
      const T* x = static_cast<const T*>(inputs[0]) + outer * grid_.others() * inner;
      T* y = static_cast<T*>(outputs[0]) + row * grid_.row();
      for (int64_t p2 = 0; p2 < grid_.extent(2); ++p2, y += inner) {
        ForBlocks(inner, [&](auto size, int64_t first) {
          float largest[size];
          std::fill_n(largest, int{size}, -std::numeric_limits<float>::infinity());
          grid_.ForEach(p0, p1, p2, [&](int64_t element, int64_t) {
            const T* from = x + element * inner + first;
            for (int c = 0; c < size; ++c) {
              const float value = Widen(from[c]);
              largest[c] = value > largest[c] || value != value ? value : largest[c];
            }
          });
          for (int c = 0; c < size; ++c) y[first + c] = Narrow<T>(largest[c]);
        });
      }
    });
    return absl::OkStatus();
  }

 private:
  const Grid grid_;
  const int threads_;
};

// An element is the first largest of a window if it is the result and none before it is.
template <typename T>
class MaxPoolGradKernel : public Kernel {
 public:
  MaxPoolGradKernel(const Windows& windows, int threads)
      : grid_(Grid::OfImage(windows)), places_(Grid::OfPlaces(windows)), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const int64_t inner = grid_.inner();
    grid_.ForEachRow(threads_, [&](int64_t outer, int64_t d0, int64_t d1, int64_t row) {
      const int64_t image = outer * grid_.extents() * inner, pooled = outer * grid_.others() * inner;
      const T *dy = static_cast<const T*>(inputs[0]) + pooled, *x = static_cast<const T*>(inputs[1]) + image;
      const T* y = static_cast<const T*>(inputs[2]) + pooled;
      T* dx = static_cast<T*>(outputs[0]) + row * grid_.row();
      for (int64_t d2 = 0; d2 < grid_.extent(2); ++d2, dx += inner) {
        const int64_t element = (d0 * grid_.extent(1) + d1) * grid_.extent(2) + d2;
        ForBlocks(inner, [&](auto size, int64_t first) {
          float sums[size] = {};
          grid_.ForEach(d0, d1, d2, [&](int64_t place, int64_t tap) {
            const int64_t at = place * inner + first;
            AddWhereFirst<size>({place, tap}, dy + at, x + first, y + at, element, sums);
          });
          for (int c = 0; c < size; ++c) dx[first + c] = Narrow<T>(sums[c]);
        });
      }
    });
    return absl::OkStatus();
  }

 private:
  // `dy` and `y` are those of the window, `x` of the image.
  template <int kSize>
  void AddWhereFirst(const Sight& own, const T* dy, const T* x, const T* y, int64_t element, float* sums) const {
    const int64_t inner = grid_.inner();
    float gradient[kSize], largest[kSize];
    for (int c = 0; c < kSize; ++c) {
      largest[c] = Widen(y[c]);
      gradient[c] = Widen(x[element * inner + c]) == largest[c] ? Widen(dy[c]) : 0.0f;
    }
    const int64_t line = own.other / grid_.other(2);
    places_.ForEach(line / grid_.other(1), line % grid_.other(1), own.other % grid_.other(2),
                    [&](int64_t other, int64_t tap) {
                      if (tap >= own.tap) return;
                      const T* earlier = x + other * inner;
                      for (int c = 0; c < kSize; ++c) {
                        gradient[c] = Widen(earlier[c]) == largest[c] ? 0.0f : gradient[c];
                      }
                    });
    for (int c = 0; c < kSize; ++c) sums[c] += gradient[c];
  }

  const Grid grid_, places_;
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
