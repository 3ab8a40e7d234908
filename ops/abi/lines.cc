#include "ops/abi/lines.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft {

absl::StatusOr<Lines> LinesOfInput(const KernelSpec& spec) {
  const TensorSpec& x = spec.inputs[0];
  WEFT_ASSIGN_OR_RETURN(int64_t dim, IntAttribute(spec, "dim", 0, x.rank()));
  if (x.dims[dim] != x.global_dims[dim]) {
    return absl::InvalidArgumentError(absl::StrCat("input 0: expected dim ", dim, " to be whole, got ", x.ToString()));
  }
  Lines lines;
  lines.extent = x.dims[dim];
  for (int64_t d = 0; d < dim; ++d) lines.outer *= x.dims[d];
  for (int64_t d = dim + 1; d < x.rank(); ++d) lines.inner *= x.dims[d];
  return lines;
}

}  // namespace weft
