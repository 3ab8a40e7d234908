#include "ops/scan/plan.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::scan {

absl::StatusOr<ScanPlan> MakeScanPlan(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:.->any:.").status());
  const TensorSpec& x = spec.inputs[0];
  if (spec.outputs[0].dtype != x.dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected ", NameOf(x.dtype), ", got ", spec.outputs[0].ToString()));
  }
  if (!WidensToFloat(x.dtype) && x.dtype != DType::kI32 && x.dtype != DType::kI64) {
    return absl::InvalidArgumentError(absl::StrCat("input 0: expected f32, bf16, f16, i32 or i64, got ", x.ToString()));
  }
  WEFT_ASSIGN_OR_RETURN(int64_t dim, IntAttribute(spec, "dim", 0, x.rank()));
  if (x.dims[dim] != x.global_dims[dim]) {
    return absl::InvalidArgumentError(absl::StrCat("input 0: expected dim ", dim, " to be whole, got ", x.ToString()));
  }
  ScanPlan plan;
  plan.extent = x.dims[dim];
  for (int64_t d = 0; d < dim; ++d) plan.outer *= x.dims[d];
  for (int64_t d = dim + 1; d < x.rank(); ++d) plan.inner *= x.dims[d];
  plan.exclusive = spec.attributes.Has("exclusive");
  plan.reverse = spec.attributes.Has("reverse");
  return plan;
}

}  // namespace weft::scan
