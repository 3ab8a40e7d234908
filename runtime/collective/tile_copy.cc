#include "runtime/collective/tile_copy.h"

#include <algorithm>
#include <cstring>

namespace weft::collective {

TileCopy::TileCopy(const std::vector<int64_t>& dims, const std::vector<int64_t>& from_dims,
                   const std::vector<int64_t>& from_origin, const std::vector<int64_t>& to_dims,
                   const std::vector<int64_t>& to_origin, int64_t element_bytes)
    : run_bytes_(element_bytes) {
  int64_t from_stride = element_bytes, to_stride = element_bytes;
  bool contiguous = true;  // so far, the inner dims are one run in both tiles
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    from_offset_ += from_origin[d] * from_stride;
    to_offset_ += to_origin[d] * to_stride;
    if (contiguous) {
      run_bytes_ *= dims[d];
    } else if (dims[d] != 1) {
      levels_.push_back({dims[d], from_stride, to_stride});
    }
    contiguous = contiguous && dims[d] == from_dims[d] && dims[d] == to_dims[d];
    from_stride *= from_dims[d];
    to_stride *= to_dims[d];
  }
  std::reverse(levels_.begin(), levels_.end());
}

void TileCopy::Run(const void* from, void* to) const {
  ForEachRun([&](int64_t from_offset, int64_t to_offset, int64_t bytes) {
    std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
  });
}

}  // namespace weft::collective
