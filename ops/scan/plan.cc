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
  ScanPlan plan;
  WEFT_ASSIGN_OR_RETURN(plan.lines, LinesOfInput(spec));
  plan.exclusive = spec.attributes.Has("exclusive");
  plan.reverse = spec.attributes.Has("reverse");
  return plan;
}

}  // namespace weft::scan
