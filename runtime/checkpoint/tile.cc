#include "runtime/checkpoint/tile.h"

#include <algorithm>

#include "absl/strings/str_join.h"

namespace weft::checkpoint {

std::string ShapeText(const std::vector<int64_t>& shape) { return absl::StrCat("[", absl::StrJoin(shape, ","), "]"); }

int64_t ElementsOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t d : shape) {
    if (d < 0) return -1;
    overflow |= __builtin_mul_overflow(count, std::max<int64_t>(d, 1), &count);
  }
  if (overflow) return -1;
  return std::find(shape.begin(), shape.end(), 0) == shape.end() ? count : 0;
}

absl::Status CheckTile(const std::string& what, const TensorSpec& spec, const std::vector<int64_t>& shape) {
  const size_t rank = spec.dims.size();
  bool inside = spec.global_dims.size() == rank && spec.origin.size() == rank && ElementsOf(spec.global_dims) >= 0;
  const std::vector<int64_t>& cut = spec.padded_dims.empty() ? spec.global_dims : spec.padded_dims;
  inside = inside && cut.size() == rank;
  for (size_t d = 0; inside && d < rank; ++d) {
    inside = spec.origin[d] >= 0 && spec.dims[d] >= 0 && spec.origin[d] <= cut[d] - spec.dims[d];
  }
  if (!inside) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": expected a tile inside its tensor, got ",
                                                   ShapeText(spec.dims), " of ", ShapeText(spec.global_dims), " at ",
                                                   ShapeText(spec.origin)));
  }
  if (ElementsOf(spec.global_dims) != ElementsOf(shape)) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": shape: expected as many elements as ",
                                                   ShapeText(spec.global_dims), ", got ", ShapeText(shape)));
  }
  return absl::OkStatus();
}

bool Intersect(const TensorSpec& a, const TensorSpec& b) {
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (std::max(a.origin[d], b.origin[d]) >= std::min(a.origin[d] + a.dims[d], b.origin[d] + b.dims[d])) return false;
  }
  return true;
}

}  // namespace weft::checkpoint
