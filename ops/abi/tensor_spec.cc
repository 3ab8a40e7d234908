#include "ops/abi/tensor_spec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

std::vector<int64_t> TensorSpec::InsideDims() const {
  std::vector<int64_t> inside = dims;
  for (size_t d = 0; d < inside.size(); ++d) inside[d] = std::clamp<int64_t>(global_dims[d] - origin[d], 0, dims[d]);
  return inside;
}

std::string TensorSpec::ToString() const {
  std::string text = absl::StrCat(NameOf(dtype), "[", absl::StrJoin(dims, ","), "]");
  if (!whole()) {
    absl::StrAppend(&text, " of [", absl::StrJoin(global_dims, ","), "]");
    if (!padded_dims.empty()) absl::StrAppend(&text, " padded to [", absl::StrJoin(padded_dims, ","), "]");
    absl::StrAppend(&text, " at (", absl::StrJoin(origin, ","), ")");
  }
  return text;
}

}  // namespace weft
