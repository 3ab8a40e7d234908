// What the CPU kernels of the family share.
#ifndef WEFT_OPS_WINDOW_CPU_INTERNAL_H_
#define WEFT_OPS_WINDOW_CPU_INTERNAL_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/abi/kernel.h"
#include "ops/abi/parallel.h"
#include "ops/window/windows.h"

namespace weft::window {

absl::StatusOr<std::unique_ptr<Kernel>> CreateUnfold(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateFold(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPool(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPoolGrad(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConv(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradInput(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradWeight(const KernelSpec& spec);

// Which element of a window an index and another one have to do with each other by.
struct Sight {
  int64_t other, tap;
};

// Of one dim: with each index of what is computed, indices of what is read, in the order of the taps.
class Sights {
 public:
  // With a place, the elements of its window that are in the image.
  static Sights OfPlaces(const WindowDim& dim) { return Sights(dim, true); }
  // With an element of the image, the places whose windows have it.
  static Sights OfImage(const WindowDim& dim) { return Sights(dim, false); }

  absl::Span<const Sight> operator[](int64_t index) const {
    return absl::MakeConstSpan(sights_).subspan(begins_[index], begins_[index + 1] - begins_[index]);
  }

 private:
  Sights(const WindowDim& dim, bool of_places) {
    const int64_t count = of_places ? dim.places : dim.extent;
    for (int64_t index = 0; index < count; ++index) {
      begins_.push_back(static_cast<int64_t>(sights_.size()));
      for (int64_t tap = 0; tap < dim.size; ++tap) {
        const int64_t other = of_places ? ElementOf(dim, index, tap) : PlaceOf(dim, index, tap);
        if (other >= 0) sights_.push_back({other, tap});
      }
    }
    begins_.push_back(static_cast<int64_t>(sights_.size()));
  }

  // Below 0: outside.
  static int64_t ElementOf(const WindowDim& dim, int64_t place, int64_t tap) {
    const int64_t at = place * dim.stride - dim.padding + tap * dim.dilation;
    return at < dim.extent ? at : -1;
  }
  static int64_t PlaceOf(const WindowDim& dim, int64_t element, int64_t tap) {
    const int64_t at = element + dim.padding - tap * dim.dilation;
    return at >= 0 && at % dim.stride == 0 && at / dim.stride < dim.places ? at / dim.stride : -1;
  }

  std::vector<Sight> sights_;
  std::vector<int64_t> begins_;  // one more than there are indices
};

// Of all dims: numbers are those within a tensor of [n0, n1, n2], `inner` elements each.
class Grid {
 public:
  static Grid OfPlaces(const Windows& w) { return Grid(w, &Sights::OfPlaces); }
  static Grid OfImage(const Windows& w) {
    Grid grid(w, &Sights::OfImage);
    grid.of_places_ = false;
    return grid;
  }
  const Windows& windows() const { return w_; }
  int64_t inner() const { return w_.inner; }
  const Sights& dim(int d) const { return dims_[d]; }

  // The tensor that is computed, and the one that is read.
  int64_t extent(int d) const { return of_places_ ? w_.dims[d].places : w_.dims[d].extent; }
  int64_t other(int d) const { return of_places_ ? w_.dims[d].extent : w_.dims[d].places; }
  int64_t extents() const { return extent(0) * extent(1) * extent(2); }
  int64_t others() const { return other(0) * other(1) * other(2); }
  // Rows along the last dim, each of `row` elements.
  int64_t rows() const { return w_.outer * extent(0) * extent(1); }
  int64_t row() const { return extent(2) * w_.inner; }

  // Calls body(other, tap) with the sights of an element, in the order of the taps.
  template <typename Body>
  void ForEach(int64_t i0, int64_t i1, int64_t i2, const Body& body) const {
    for (const Sight& a : dims_[0][i0]) {
      for (const Sight& b : dims_[1][i1]) {
        const int64_t other_line = (a.other * other(1) + b.other) * other(2);
        const int64_t tap_line = (a.tap * w_.dims[1].size + b.tap) * w_.dims[2].size;
        for (const Sight& c : dims_[2][i2]) body(other_line + c.other, tap_line + c.tap);
      }
    }
  }

  // Calls body(outer, i0, i1, row) for every row, on up to `threads` threads.
  template <typename Body>
  void ForEachRow(int threads, const Body& body) const {
    const int64_t work = row() * w_.dims[0].size * w_.dims[1].size * w_.dims[2].size;
    ParallelFor(threads, rows(), std::max<int64_t>(1, 65536 / std::max<int64_t>(1, work)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t line = i / extent(1);
                    body(line / extent(0), line % extent(0), i % extent(1), i);
                  }
                });
  }

 private:
  Grid(const Windows& w, Sights (*make)(const WindowDim&))
      : w_(w), dims_{make(w.dims[0]), make(w.dims[1]), make(w.dims[2])} {}

  Windows w_;
  bool of_places_ = true;
  Sights dims_[kMaxDims];
};

// Calls body(size, c) for blocks of the `inner` elements that a place has, whose sizes the compiler knows: as many sums
// as stay in registers.
template <typename Body>
void ForBlocks(int64_t inner, const Body& body) {
  int64_t c = 0;
  for (; c + 32 <= inner; c += 32) body(std::integral_constant<int, 32>(), c);
  for (; c + 8 <= inner; c += 8) body(std::integral_constant<int, 8>(), c);
  for (; c < inner; ++c) body(std::integral_constant<int, 1>(), c);
}

}  // namespace weft::window

#endif  // WEFT_OPS_WINDOW_CPU_INTERNAL_H_
