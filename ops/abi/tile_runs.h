// Walks a tile in runs of elements that are neighbours in the global tensor
// too: what a kernel needs whose result depends on the global element index.
#ifndef WEFT_OPS_ABI_TILE_RUNS_H_
#define WEFT_OPS_ABI_TILE_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_tile.h"
#include "ops/abi/tensor_spec.h"

namespace weft {

// Immutable, hence thread-safe.
class TileRuns {
 public:
  explicit TileRuns(const TensorSpec& tile) {
    // Trailing dims that are whole join the run; the innermost cut one ends it.
    int64_t stride = 1;
    bool contiguous = true;
    for (int64_t d = tile.rank() - 1; d >= 0; --d) {
      start_ += tile.origin[d] * stride;
      if (contiguous) {
        run_ *= tile.dims[d];
        contiguous = tile.dims[d] == tile.global_dims[d];
      } else {
        outer_.push_back({tile.dims[d], stride});
      }
      stride *= tile.global_dims[d];
    }
    elements_ = tile.elements();
    global_elements_ = stride;
  }

  int64_t elements() const { return elements_; }
  int64_t global_elements() const { return global_elements_; }

  // What GPU kernels are told: elements of a run; the first global element; the
  // dims outside the run, innermost first.
  struct Dim {
    int64_t extent;
    int64_t stride;  // in the global tensor
  };
  int64_t run() const { return run_; }
  int64_t start() const { return start_; }
  const std::vector<Dim>& outer() const { return outer_; }

  // Calls body(local, global, count) for the runs that make up the local
  // elements [begin, end): `count` elements from local index `local` on, the
  // first of which is element `global` of the global tensor.
  template <typename Body>
  void ForRange(int64_t begin, int64_t end, Body&& body) const {
    while (begin < end) {
      const int64_t within = begin % run_;
      const int64_t count = std::min(run_ - within, end - begin);
      body(begin, GlobalStart(begin / run_) + within, count);
      begin += count;
    }
  }

 private:
  int64_t GlobalStart(int64_t run) const {
    int64_t global = start_;
    for (const Dim& dim : outer_) {  // innermost first
      global += run % dim.extent * dim.stride;
      run /= dim.extent;
    }
    return global;
  }

  std::vector<Dim> outer_;
  int64_t start_ = 0;
  int64_t run_ = 1;
  int64_t elements_ = 1;
  int64_t global_elements_ = 1;
};

// The same for GPU kernels; kUnimplemented if too many dims are cut.
inline absl::StatusOr<GpuTile> GpuTileOf(const TensorSpec& spec) {
  const TileRuns runs(spec);
  if (runs.outer().size() > GpuTile::kMaxDims) {
    return absl::UnimplementedError(absl::StrCat("expected a tile of fewer dims that are cut, got ", spec.ToString()));
  }
  GpuTile tile{.run = runs.run(), .start = runs.start(), .dims = static_cast<int32_t>(runs.outer().size())};
  for (int d = 0; d < tile.dims; ++d) {
    tile.extent[d] = runs.outer()[d].extent;
    tile.stride[d] = runs.outer()[d].stride;
  }
  return tile;
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_TILE_RUNS_H_
