#include "ops/padding/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/abi/element_bits.h"
#include "ops/abi/match_spec.h"

namespace weft::padding {

absl::StatusOr<PaddingPlan> PaddingPlan::Create(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:.->any:.").status());
  PaddingPlan plan;
  plan.tile_ = spec.outputs[0];
  if (spec.inputs[0].dtype != plan.tile_.dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected ", NameOf(spec.inputs[0].dtype), ", got ", plan.tile_.ToString()));
  }
  WEFT_ASSIGN_OR_RETURN(plan.word_, ElementOfValue(spec));
  WEFT_ASSIGN_OR_RETURN(plan.extents_, spec.attributes.Ints("extents"));
  if (plan.extents_.size() != plan.tile_.dims.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `extents`: expected ", plan.tile_.rank(), ", one a dim, got ", plan.extents_.size()));
  }
  if (spec.attributes.Has("batch")) {
    WEFT_ASSIGN_OR_RETURN(plan.batch_, spec.attributes.Int("batch"));
    if (spec.attributes.Has("along")) {
      WEFT_ASSIGN_OR_RETURN(plan.along_, IntAttribute(spec, "along", 0, plan.tile_.rank()));
    }
  }
  return plan;
}

std::vector<Rows> PaddingPlan::RowsOf(int64_t micro_batch) const {
  std::vector<Rows> all;
  int64_t count = 1, inner = tile_.elements();
  for (int64_t d = 0; d < tile_.rank() && inner > 0; ++d) {
    const int64_t extent = tile_.dims[d];
    inner /= extent;
    int64_t end = extents_[d];
    if (d == along_ && batch_.has_value()) end = std::min(end, *batch_ - micro_batch * extents_[d]);
    const int64_t inside = std::clamp<int64_t>(end - tile_.origin[d], 0, extent);
    if (inside < extent) all.push_back({count, inside * inner, (extent - inside) * inner, extent * inner});
    count *= extent;
  }
  return all;
}

}  // namespace weft::padding
