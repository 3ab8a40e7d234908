// Windows side by side, for elements of any type, and their sums, for f32, bf16 and f16.
#include <cstring>

#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/window/cpu_internal.h"
#include "ops/window/problem.h"

namespace weft::window {
namespace {

class UnfoldKernel : public Kernel {
 public:
  UnfoldKernel(const Windows& windows, size_t element_bytes, int threads)
      : w_(windows), unit_(windows.inner * static_cast<int64_t>(element_bytes)), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const char* x = static_cast<const char*>(inputs[0]);
    char* y = static_cast<char*>(outputs[0]);
    const int64_t places = w_.dims[2].places * TapsOf(w_) * unit_;
    ParallelFor(threads_, w_.outer * w_.dims[0].places * w_.dims[1].places, GrainOf(places / 4),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) Row(row, x, y + row * places);
                });
    return absl::OkStatus();
  }

 private:
  // The windows of a row of places.
  void Row(int64_t row, const char* x, char* y) const {
    const int64_t p1 = row % w_.dims[1].places, p0 = row / w_.dims[1].places % w_.dims[0].places;
    const int64_t outer = row / (w_.dims[0].places * w_.dims[1].places), line = w_.dims[2].size * unit_;
    for (int64_t p2 = 0; p2 < w_.dims[2].places; ++p2) {
      for (int64_t k0 = 0; k0 < w_.dims[0].size; ++k0) {
        const int64_t d0 = PositionOf(w_.dims[0], p0, k0);
        for (int64_t k1 = 0; k1 < w_.dims[1].size; ++k1, y += line) {
          const int64_t d1 = PositionOf(w_.dims[1], p1, k1);
          if (d0 < 0 || d1 < 0) {
            std::memset(y, 0, line);
          } else {
            const int64_t first = (outer * w_.dims[0].extent + d0) * w_.dims[1].extent + d1;
            Line(p2, x + first * w_.dims[2].extent * unit_, y);
          }
        }
      }
    }
  }

  // A window's elements along the last dim; without dilation, what of them is in the image lies together.
  void Line(int64_t place, const char* x, char* y) const {
    const WindowDim& dim = w_.dims[2];
    if (dim.dilation == 1) {
      const int64_t at = place * dim.stride - dim.padding;
      const int64_t begin = std::clamp<int64_t>(-at, 0, dim.size), end = std::clamp(dim.extent - at, begin, dim.size);
      std::memset(y, 0, begin * unit_);
      if (begin < end) std::memcpy(y + begin * unit_, x + (at + begin) * unit_, (end - begin) * unit_);
      std::memset(y + end * unit_, 0, (dim.size - end) * unit_);
      return;
    }
    for (int64_t tap = 0; tap < dim.size; ++tap, y += unit_) {
      const int64_t at = PositionOf(dim, place, tap);
      if (at < 0) {
        std::memset(y, 0, unit_);
      } else {
        std::memcpy(y, x + at * unit_, unit_);
      }
    }
  }

  const Windows w_;
  const int64_t unit_;  // bytes that windows do not take apart
  const int threads_;
};

// Each sum has at most as many rounding errors as an element has windows, and that of its type.
template <typename T>
class FoldKernel : public Kernel {
 public:
  FoldKernel(const Windows& windows, int threads) : w_(windows), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* y = static_cast<const T*>(inputs[0]);
    T* x = static_cast<T*>(outputs[0]);
    const int64_t row_elements = w_.dims[2].extent * w_.inner;
    ParallelFor(threads_, w_.outer * w_.dims[0].extent * w_.dims[1].extent, GrainOf(row_elements * TapsOf(w_)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) Row(row, y, x + row * row_elements);
                });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBlock = 128;

  void Row(int64_t row, const T* y, T* x) const {
    const int64_t d1 = row % w_.dims[1].extent, d0 = row / w_.dims[1].extent % w_.dims[0].extent;
    const int64_t window = TapsOf(w_) * w_.inner;
    y += row / (w_.dims[0].extent * w_.dims[1].extent) * PlacesOf(w_) * window;
    for (int64_t d2 = 0; d2 < w_.dims[2].extent; ++d2, x += w_.inner) {
      ForBlocks(w_.inner, kBlock, [&](int64_t first, int64_t count) {
        float sums[kBlock] = {};
        ForEachWindow(w_, d0, d1, d2, [&](const Sight& sight) {
          const T* from = y + sight.place * window + sight.tap * w_.inner + first;
          for (int64_t c = 0; c < count; ++c) sums[c] += Widen(from[c]);
        });
        for (int64_t c = 0; c < count; ++c) x[first + c] = Narrow<T>(sums[c]);
      });
    }
  }

  const Windows w_;
  const int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateUnfold(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, UnfoldWindows(spec));
  return std::make_unique<UnfoldKernel>(windows, SizeOf(spec.inputs[0].dtype), spec.threads);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateFold(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, FoldWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype,
                      [&](auto zero) { return std::make_unique<FoldKernel<decltype(zero)>>(windows, spec.threads); });
}

}  // namespace weft::window
