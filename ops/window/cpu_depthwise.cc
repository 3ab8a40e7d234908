// Convolutions of every channel with weights of its own, and their gradients, for f32, bf16 and f16. Products are
// summed in float over a window; the gradient of the weights in float along a row of places, then in double.
#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/window/cpu_internal.h"
#include "ops/window/problem.h"

namespace weft::window {
namespace {

// sums[c] += a[c] b[c]
template <int kSize, typename T>
void AddProducts(const T* a, const T* b, float* sums) {
  for (int c = 0; c < kSize; ++c) sums[c] += Widen(a[c]) * Widen(b[c]);
}

// Of the first input, under the weights of the second: an image's windows, or the gradients of the windows that have an
// element.
template <typename T>
class DepthwiseKernel : public Kernel {
 public:
  DepthwiseKernel(Grid grid, int threads) : grid_(std::move(grid)), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* weights = static_cast<const T*>(inputs[1]);
    const int64_t inner = grid_.inner();
    grid_.ForEachRow(threads_, [&](int64_t outer, int64_t i0, int64_t i1, int64_t row) {
      const T* from = static_cast<const T*>(inputs[0]) + outer * grid_.others() * inner;
      T* to = static_cast<T*>(outputs[0]) + row * grid_.row();
      ForBlocks(inner, [&](auto size, int64_t first) {
        for (int64_t i2 = 0; i2 < grid_.extent(2); ++i2) {
          float sums[size] = {};
          grid_.ForEach(i0, i1, i2, [&](int64_t other, int64_t tap) {
            AddProducts<size>(from + other * inner + first, weights + tap * inner + first, sums);
          });
          for (int c = 0; c < size; ++c) to[i2 * inner + first + c] = Narrow<T>(sums[c]);
        }
      });
    });
    return absl::OkStatus();
  }

 private:
  const Grid grid_;
  const int threads_;
};

template <typename T>
class DepthwiseGradWeightKernel : public Kernel {
 public:
  DepthwiseGradWeightKernel(const Windows& windows, const KernelSpec& spec)
      : w_(windows),
        grid_(Grid::OfPlaces(windows)),
        parts_(PartsOf(windows, kMostParts, kLeastPlaces)),
        threads_(spec.threads),
        workspace_(Reserved(spec.workspace, static_cast<size_t>(parts_ * elements()) * sizeof(double))) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    const T* dy = static_cast<const T*>(inputs[1]);
    auto* dw = static_cast<float*>(outputs[0]);
    auto* sums = workspace_->template data<double>();
    const int64_t rows = w_.outer * w_.dims[0].places * w_.dims[1].places;
    ParallelFor(threads_, parts_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        double* own = sums + part * elements();
        std::fill_n(own, elements(), 0.0);
        for (int64_t row = rows * part / parts_; row < rows * (part + 1) / parts_; ++row) Row(row, x, dy, own);
      }
    });
    ParallelFor(threads_, elements(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double sum = 0;
        for (int64_t part = 0; part < parts_; ++part) sum += sums[part * elements() + i];
        dw[i] = static_cast<float>(sum);
      }
    });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kMostParts = 32;
  static constexpr int64_t kLeastPlaces = 256;

  int64_t elements() const { return TapsOf(w_) * w_.inner; }

  // Adds what a row of places gives to every weight.
  void Row(int64_t row, const T* x, const T* dy, double* sums) const {
    const int64_t inner = w_.inner, line = row / w_.dims[1].places;
    x += line / w_.dims[0].places * ExtentsOf(w_) * inner;
    dy += row * grid_.row();
    for (const Sight& a : grid_.dim(0)[line % w_.dims[0].places]) {
      for (const Sight& b : grid_.dim(1)[row % w_.dims[1].places]) {
        const T* from = x + (a.other * w_.dims[1].extent + b.other) * w_.dims[2].extent * inner;
        double* to = sums + (a.tap * w_.dims[1].size + b.tap) * w_.dims[2].size * inner;
        ForBlocks(inner, [&](auto size, int64_t first) {
          for (int64_t tap = 0; tap < w_.dims[2].size; ++tap) {
            AddLine<size>(tap, from + first, dy + first, to + tap * inner + first);
          }
        });
      }
    }
  }

  template <int kSize>
  void AddLine(int64_t tap, const T* x, const T* dy, double* to) const {
    const WindowDim& dim = w_.dims[2];
    // The places at which the tap is in the image: from the first element that is to the last.
    const int64_t shift = dim.padding - tap * dim.dilation;  // an element is at place x stride - shift
    const int64_t begin = shift <= 0 ? 0 : (shift + dim.stride - 1) / dim.stride;
    const int64_t last = dim.extent - 1 + shift, end = last < 0 ? 0 : std::min(dim.places, last / dim.stride + 1);
    float sums[kSize] = {};
    for (int64_t p = begin; p < end; ++p) {
      AddProducts<kSize>(x + (p * dim.stride - shift) * w_.inner, dy + p * w_.inner, sums);
    }
    for (int c = 0; c < kSize; ++c) to[c] += static_cast<double>(sums[c]);
  }

  const Windows w_;
  const Grid grid_;
  const int64_t parts_;
  const int threads_;
  const std::shared_ptr<Workspace> workspace_;  // [parts][taps][channels]
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConv(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, DepthwiseWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<DepthwiseKernel<decltype(zero)>>(Grid::OfPlaces(windows), spec.threads);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradInput(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, DepthwiseGradInputWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<DepthwiseKernel<decltype(zero)>>(Grid::OfImage(windows), spec.threads);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradWeight(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, DepthwiseGradWeightWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<DepthwiseGradWeightKernel<decltype(zero)>>(windows, spec);
  });
}

}  // namespace weft::window
