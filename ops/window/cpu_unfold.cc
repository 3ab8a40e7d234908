// Windows side by side, for elements of any type, and their sums, for f32, bf16 and f16.
#include <cstring>

#include "ops/abi/float_types.h"
#include "ops/window/cpu_internal.h"
#include "ops/window/problem.h"

namespace weft::window {
namespace {

class UnfoldKernel : public Kernel {
 public:
  UnfoldKernel(const Windows& windows, size_t element_bytes, int threads)
      : w_(windows),
        grid_(Grid::OfPlaces(windows)),
        unit_(windows.inner * static_cast<int64_t>(element_bytes)),
        threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const char* x = static_cast<const char*>(inputs[0]);
    char* y = static_cast<char*>(outputs[0]);
    const int64_t row_bytes = w_.dims[2].places * TapsOf(w_) * unit_, image_bytes = ExtentsOf(w_) * unit_;
    grid_.ForEachRow(threads_, [&](int64_t outer, int64_t p0, int64_t p1, int64_t row) {
      Row(p0, p1, x + outer * image_bytes, y + row * row_bytes);
    });
    return absl::OkStatus();
  }

 private:
  // The windows of a row of places.
  void Row(int64_t p0, int64_t p1, const char* x, char* y) const {
    const int64_t lines = w_.dims[0].size * w_.dims[1].size, line = w_.dims[2].size * unit_;
    for (int64_t p2 = 0; p2 < w_.dims[2].places; ++p2, y += lines * line) {
      const bool all = grid_.dim(0)[p0].size() * grid_.dim(1)[p1].size() == static_cast<size_t>(lines);
      if (!all) std::memset(y, 0, lines * line);
      for (const Sight& a : grid_.dim(0)[p0]) {
        for (const Sight& b : grid_.dim(1)[p1]) {
          Line(p2, x + (a.other * w_.dims[1].extent + b.other) * w_.dims[2].extent * unit_,
               y + (a.tap * w_.dims[1].size + b.tap) * line);
        }
      }
    }
  }

  // A window's elements along the last dim; without dilation, what of them is in the image lies together.
  void Line(int64_t place, const char* x, char* y) const {
    const absl::Span<const Sight> sights = grid_.dim(2)[place];
    const auto count = static_cast<int64_t>(sights.size());
    if (count < w_.dims[2].size) std::memset(y, 0, w_.dims[2].size * unit_);
    if (count > 0 && w_.dims[2].dilation == 1) {
      std::memcpy(y + sights[0].tap * unit_, x + sights[0].other * unit_, count * unit_);
      return;
    }
    for (const Sight& sight : sights) std::memcpy(y + sight.tap * unit_, x + sight.other * unit_, unit_);
  }

  const Windows w_;
  const Grid grid_;
  const int64_t unit_;  // bytes that windows do not take apart
  const int threads_;
};

// Each sum has at most as many rounding errors as an element has windows, and that of its type.
template <typename T>
class FoldKernel : public Kernel {
 public:
  FoldKernel(const Windows& windows, int threads) : grid_(Grid::OfImage(windows)), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const int64_t taps = TapsOf(grid_.windows()), inner = grid_.inner();
    grid_.ForEachRow(threads_, [&](int64_t outer, int64_t d0, int64_t d1, int64_t row) {
      const T* y = static_cast<const T*>(inputs[0]) + outer * grid_.others() * taps * inner;
      T* x = static_cast<T*>(outputs[0]) + row * grid_.row();
      for (int64_t d2 = 0; d2 < grid_.extent(2); ++d2, x += inner) {
        ForBlocks(inner, [&](auto size, int64_t first) {
          float sums[size] = {};
          grid_.ForEach(d0, d1, d2, [&](int64_t place, int64_t tap) {
            const T* from = y + (place * taps + tap) * inner + first;
            for (int c = 0; c < size; ++c) sums[c] += Widen(from[c]);
          });
          for (int c = 0; c < size; ++c) x[first + c] = Narrow<T>(sums[c]);
        });
      }
    });
    return absl::OkStatus();
  }

 private:
  const Grid grid_;
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
