// Convolutions of every channel with weights of its own, and their gradients, for f32, bf16 and f16. Products are
// summed in float over a window; the gradient of the weights in float along a row of places, then in double.
#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"
#include "ops/abi/vectorize.h"
#include "ops/window/cpu_internal.h"
#include "ops/window/problem.h"

namespace weft::window {
namespace {

// Channels whose sums stay in registers.
constexpr int64_t kBlock = 32;

// sums[c] += a[c] b[c]
template <typename T>
void AddProducts(const T* a, const T* b, int64_t count, float* sums) {
  if (count == kBlock) {  // an extent that the compiler knows
    for (int64_t c = 0; c < kBlock; ++c) sums[c] += Widen(a[c]) * Widen(b[c]);
  } else {
    for (int64_t c = 0; c < count; ++c) sums[c] += Widen(a[c]) * Widen(b[c]);
  }
}

template <typename T>
class DepthwiseKernel : public Kernel {
 public:
  DepthwiseKernel(const Windows& windows, int threads) : w_(windows), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* x = static_cast<const T*>(inputs[0]);
    const T* weights = static_cast<const T*>(inputs[1]);
    T* y = static_cast<T*>(outputs[0]);
    const int64_t row_elements = w_.dims[2].places * w_.inner;
    ParallelFor(threads_, w_.outer * w_.dims[0].places * w_.dims[1].places, GrainOf(row_elements * TapsOf(w_)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) Row(row, x, weights, y + row * row_elements);
                });
    return absl::OkStatus();
  }

 private:
  void Row(int64_t row, const T* x, const T* weights, T* y) const {
    const int64_t p1 = row % w_.dims[1].places, p0 = row / w_.dims[1].places % w_.dims[0].places;
    x += row / (w_.dims[0].places * w_.dims[1].places) * ExtentsOf(w_) * w_.inner;
    ForBlocks(w_.inner, kBlock, [&](int64_t first, int64_t count) {
      for (int64_t p2 = 0; p2 < w_.dims[2].places; ++p2) {
        float sums[kBlock] = {};
        ForEachElement(w_, p0, p1, p2, [&](int64_t position, int64_t tap) {
          AddProducts(x + position * w_.inner + first, weights + tap * w_.inner + first, count, sums);
        });
        T* to = y + p2 * w_.inner + first;
        for (int64_t c = 0; c < count; ++c) to[c] = Narrow<T>(sums[c]);
      }
    });
  }

  const Windows w_;
  const int threads_;
};

template <typename T>
class DepthwiseGradInputKernel : public Kernel {
 public:
  DepthwiseGradInputKernel(const Windows& windows, int threads) : w_(windows), threads_(threads) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const T* dy = static_cast<const T*>(inputs[0]);
    const T* weights = static_cast<const T*>(inputs[1]);
    T* dx = static_cast<T*>(outputs[0]);
    const int64_t row_elements = w_.dims[2].extent * w_.inner;
    ParallelFor(threads_, w_.outer * w_.dims[0].extent * w_.dims[1].extent, GrainOf(row_elements * TapsOf(w_)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) Row(row, dy, weights, dx + row * row_elements);
                });
    return absl::OkStatus();
  }

 private:
  void Row(int64_t row, const T* dy, const T* weights, T* dx) const {
    const int64_t d1 = row % w_.dims[1].extent, d0 = row / w_.dims[1].extent % w_.dims[0].extent;
    dy += row / (w_.dims[0].extent * w_.dims[1].extent) * PlacesOf(w_) * w_.inner;
    ForBlocks(w_.inner, kBlock, [&](int64_t first, int64_t count) {
      for (int64_t d2 = 0; d2 < w_.dims[2].extent; ++d2) {
        float sums[kBlock] = {};
        ForEachWindow(w_, d0, d1, d2, [&](const Sight& sight) {
          AddProducts(dy + sight.place * w_.inner + first, weights + sight.tap * w_.inner + first, count, sums);
        });
        T* to = dx + d2 * w_.inner + first;
        for (int64_t c = 0; c < count; ++c) to[c] = Narrow<T>(sums[c]);
      }
    });
  }

  const Windows w_;
  const int threads_;
};

template <typename T>
class DepthwiseGradWeightKernel : public Kernel {
 public:
  DepthwiseGradWeightKernel(const Windows& windows, const KernelSpec& spec)
      : w_(windows),
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
    const int64_t p1 = row % w_.dims[1].places, p0 = row / w_.dims[1].places % w_.dims[0].places;
    x += row / (w_.dims[0].places * w_.dims[1].places) * ExtentsOf(w_) * w_.inner;
    dy += row * w_.dims[2].places * w_.inner;
    for (int64_t k0 = 0; k0 < w_.dims[0].size; ++k0) {
      const int64_t d0 = PositionOf(w_.dims[0], p0, k0);
      for (int64_t k1 = 0; k1 < w_.dims[1].size; ++k1, sums += w_.dims[2].size * w_.inner) {
        const int64_t d1 = PositionOf(w_.dims[1], p1, k1);
        if (d0 < 0 || d1 < 0) continue;
        const T* line = x + (d0 * w_.dims[1].extent + d1) * w_.dims[2].extent * w_.inner;
        ForBlocks(w_.inner, kBlock, [&](int64_t first, int64_t count) {
          for (int64_t k2 = 0; k2 < w_.dims[2].size; ++k2) {
            AddLine(k2, line + first, dy + first, count, sums + k2 * w_.inner + first);
          }
        });
      }
    }
  }

  void AddLine(int64_t tap, const T* x, const T* dy, int64_t count, double* to) const {
    float sums[kBlock] = {};
    for (int64_t p = 0; p < w_.dims[2].places; ++p) {
      const int64_t position = PositionOf(w_.dims[2], p, tap);
      if (position >= 0) AddProducts(x + position * w_.inner, dy + p * w_.inner, count, sums);
    }
    for (int64_t c = 0; c < count; ++c) to[c] += static_cast<double>(sums[c]);
  }

  const Windows w_;
  const int64_t parts_;
  const int threads_;
  const std::shared_ptr<Workspace> workspace_;  // [parts][taps][channels]
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConv(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, DepthwiseWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<DepthwiseKernel<decltype(zero)>>(windows, spec.threads);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradInput(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, DepthwiseGradInputWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<DepthwiseGradInputKernel<decltype(zero)>>(windows, spec.threads);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradWeight(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Windows windows, DepthwiseGradWeightWindows(spec));
  return MakeForFloat(spec.inputs[0].dtype, [&](auto zero) {
    return std::make_unique<DepthwiseGradWeightKernel<decltype(zero)>>(windows, spec);
  });
}

}  // namespace weft::window
