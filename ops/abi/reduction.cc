#include "ops/abi/reduction.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/abi/match_spec.h"

namespace weft::reduce {
namespace {

// Below this many elements a part is not worth combining, and with this many
// tasks any machine is busy.
constexpr int64_t kPartElements = 65536;
constexpr int64_t kEnoughTasks = 64;

absl::Status CheckResult(const KernelSpec& spec, const std::vector<bool>& reduced) {
  std::vector<int64_t> expected;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) {
      expected.push_back(spec.inputs[0].dims[d]);
    } else if (spec.attributes.Has("keep_dims")) {
      expected.push_back(1);
    }
  }
  if (spec.outputs[0].dims == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("output 0: expected dims [", absl::StrJoin(expected, ","), "], got ", spec.outputs[0].ToString()));
}

void CutIntoTasks(ReducePlan& plan) {
  const bool rows = plan.rows_reduced;
  plan.columns = rows ? 1 : (plan.row + ReducePlan::kColumns - 1) / ReducePlan::kColumns;
  plan.pieces = rows ? (plan.row + ReducePlan::kPiece - 1) / ReducePlan::kPiece : 1;
  plan.segments = plan.reduced.count() * plan.pieces;
  if (plan.tasks() == 0 || plan.segments == 0) return;  // no output, or outputs of no summands
  if (plan.tasks() >= kEnoughTasks) return;
  const int64_t wanted = std::min(kEnoughTasks / plan.tasks(), plan.inputs / kPartElements);
  plan.parts = std::clamp<int64_t>(wanted, 1, plan.segments);
}

}  // namespace

absl::Status SetDims(const Walk& walk, DimList& list) {
  if (walk.dims().size() > kMaxDims) {
    return absl::UnimplementedError(
        absl::StrCat("expected at most ", kMaxDims, " merged dims of a kind, got ", walk.dims().size()));
  }
  list = {.dims = static_cast<int32_t>(walk.dims().size()), .count = walk.count()};
  for (int d = 0; d < list.dims; ++d) {
    list.extent[d] = walk.dims()[d].extent;
    list.stride[d] = walk.dims()[d].stride;
  }
  return absl::OkStatus();
}

void Walk::AddOuter(int64_t extent, int64_t stride) {
  count_ *= extent;
  if (!dims_.empty() && dims_.back().stride * dims_.back().extent == stride) {
    dims_.back().extent *= extent;
  } else {
    dims_.push_back({extent, stride});
  }
}

absl::StatusOr<std::vector<bool>> ReducedDims(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> dims, spec.attributes.Ints("dims"));
  const int64_t rank = spec.inputs[0].rank();
  std::vector<bool> reduced(static_cast<size_t>(rank));
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank || reduced[dim]) {
      return absl::InvalidArgumentError(absl::StrCat("attribute `dims`: expected distinct dims from 0 to ", rank - 1,
                                                     ", got [", absl::StrJoin(dims, ","), "]"));
    }
    reduced[dim] = true;
  }
  return reduced;
}

ReducePlan PlanOf(const std::vector<int64_t>& dims, const std::vector<bool>& reduced) {
  ReducePlan plan;
  bool row_open = true, row_begun = false;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    plan.inputs *= dims[d];
    plan.outputs *= reduced[d] ? 1 : dims[d];
    if (dims[d] == 1) continue;
    if (!row_begun) plan.rows_reduced = reduced[d];
    row_begun = true;
    row_open = row_open && reduced[d] == plan.rows_reduced;
    if (row_open) {
      plan.row *= dims[d];
    } else {
      (reduced[d] ? plan.reduced : plan.kept).AddOuter(dims[d], stride);
    }
    stride *= dims[d];
  }
  CutIntoTasks(plan);
  return plan;
}

absl::StatusOr<ReducePlan> MakeReducePlan(const KernelSpec& spec) {
  // The result is f32, or of the operand's type.
  const bool to_float = spec.outputs.size() == 1 && spec.outputs[0].dtype == DType::kF32;
  WEFT_ASSIGN_OR_RETURN(auto types, MatchSpec(spec, to_float ? "float:*->*" : "float:*->float:*"));
  WEFT_ASSIGN_OR_RETURN(std::vector<bool> reduced, ReducedDims(spec));
  WEFT_RETURN_IF_ERROR(CheckResult(spec, reduced));
  return PlanOf(spec.inputs[0].dims, reduced);
}

}  // namespace weft::reduce
