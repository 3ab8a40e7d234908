#include "ops/abi/tensor_spec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

std::string TensorSpec::ToString() const {
  std::string text = absl::StrCat(NameOf(dtype), "[", absl::StrJoin(dims, ","), "]");
  if (!whole()) {
    absl::StrAppend(&text, " of [", absl::StrJoin(global_dims, ","), "] at (", absl::StrJoin(origin, ","), ")");
  }
  return text;
}

}  // namespace weft
