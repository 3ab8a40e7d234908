// Where a tile's elements lie in its global tensor, as kernels are told: TileRuns
// without what only the host has.
#ifndef WEFT_OPS_ABI_GPU_TILE_H_
#define WEFT_OPS_ABI_GPU_TILE_H_

#include <cstdint>

namespace weft {

struct GpuTile {
  static constexpr int kMaxDims = 8;
  int64_t run = 1;    // neighbours in both
  int64_t start = 0;  // the global element of local element 0
  int32_t dims = 0;   // outside the run, innermost first
  int64_t extent[kMaxDims] = {};
  int64_t stride[kMaxDims] = {};  // in the global tensor

  // The global element of a local one.
  constexpr int64_t GlobalOf(int64_t local) const {
    int64_t global = start + local % run, rest = local / run;
    for (int d = 0; d < dims; ++d) {
      global += rest % extent[d] * stride[d];
      rest /= extent[d];
    }
    return global;
  }
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_GPU_TILE_H_
