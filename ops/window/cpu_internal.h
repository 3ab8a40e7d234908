// What the CPU kernels of the family share.
#ifndef WEFT_OPS_WINDOW_CPU_INTERNAL_H_
#define WEFT_OPS_WINDOW_CPU_INTERNAL_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/window/windows.h"

namespace weft::window {

absl::StatusOr<std::unique_ptr<Kernel>> CreateUnfold(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateFold(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPool(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPoolGrad(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConv(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradInput(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradWeight(const KernelSpec& spec);

// Where an element of a window lies in the image, below 0 outside.
inline int64_t PositionOf(const WindowDim& dim, int64_t place, int64_t tap) {
  const int64_t at = place * dim.stride - dim.padding + tap * dim.dilation;
  return at < dim.extent ? at : -1;
}

// The window that has `position` of the image as its element `tap`, -1 if none has.
inline int64_t PlaceOf(const WindowDim& dim, int64_t position, int64_t tap) {
  const int64_t at = position + dim.padding - tap * dim.dilation;
  if (at < 0 || at % dim.stride != 0) return -1;
  return at / dim.stride < dim.places ? at / dim.stride : -1;
}

// Calls body(position, tap) for the elements of a window that lie in the image, in order: numbers within the image and
// the window.
template <typename Body>
void ForEachElement(const Windows& w, int64_t p0, int64_t p1, int64_t p2, const Body& body) {
  int64_t tap = 0;
  for (int64_t k0 = 0; k0 < w.dims[0].size; ++k0) {
    const int64_t d0 = PositionOf(w.dims[0], p0, k0);
    for (int64_t k1 = 0; k1 < w.dims[1].size; ++k1) {
      const int64_t d1 = PositionOf(w.dims[1], p1, k1);
      for (int64_t k2 = 0; k2 < w.dims[2].size; ++k2, ++tap) {
        const int64_t d2 = PositionOf(w.dims[2], p2, k2);
        if (d0 >= 0 && d1 >= 0 && d2 >= 0) body((d0 * w.dims[1].extent + d1) * w.dims[2].extent + d2, tap);
      }
    }
  }
}

// A window with an element of the image, and which one that is; places and taps in each dim.
struct Sight {
  int64_t p0, p1, p2;
  int64_t place, tap;  // within all places and the window
};

// Calls body(sight) for the windows that have an element of the image, in the order of their taps.
template <typename Body>
void ForEachWindow(const Windows& w, int64_t d0, int64_t d1, int64_t d2, const Body& body) {
  int64_t tap = 0;
  for (int64_t k0 = 0; k0 < w.dims[0].size; ++k0) {
    const int64_t p0 = PlaceOf(w.dims[0], d0, k0);
    for (int64_t k1 = 0; k1 < w.dims[1].size; ++k1) {
      const int64_t p1 = PlaceOf(w.dims[1], d1, k1);
      for (int64_t k2 = 0; k2 < w.dims[2].size; ++k2, ++tap) {
        const int64_t p2 = PlaceOf(w.dims[2], d2, k2);
        if (p0 < 0 || p1 < 0 || p2 < 0) continue;
        body(Sight{p0, p1, p2, (p0 * w.dims[1].places + p1) * w.dims[2].places + p2, tap});
      }
    }
  }
}

// How many rows, each along the last dim that windows slide along, are worth a thread, if one takes `work` steps.
inline int64_t GrainOf(int64_t work) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, work)); }

// Calls body(first, count) for pieces of the `inner` elements that a place has, of up to `block`.
template <typename Body>
void ForBlocks(int64_t inner, int64_t block, const Body& body) {
  for (int64_t c = 0; c < inner; c += block) body(c, std::min(block, inner - c));
}

}  // namespace weft::window

#endif  // WEFT_OPS_WINDOW_CPU_INTERNAL_H_
