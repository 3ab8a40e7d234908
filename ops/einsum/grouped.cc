#include "ops/einsum/grouped.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::einsum {
namespace {

absl::Status CheckTypes(const KernelSpec& spec) {
  const TensorSpec &left = spec.inputs[0], &right = spec.inputs[1], &result = spec.outputs[0];
  if (!WidensToFloat(left.dtype) || left.dtype != right.dtype) {
    return absl::InvalidArgumentError(absl::StrCat("expected operands of one type, f32, bf16 or f16, got ",
                                                   left.ToString(), " and ", right.ToString()));
  }
  if (result.dtype != left.dtype && result.dtype != DType::kF32) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected ", NameOf(left.dtype), " or f32, got ", result.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<GroupedProblem> Make(const KernelSpec& spec, const char* rule, const TensorSpec& matrices) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, rule));
  WEFT_RETURN_IF_ERROR(CheckTypes(spec));
  const TensorSpec &rows = spec.inputs[0], &counts = spec.inputs[2];
  if (rows.dims[rows.rank() - 2] != rows.global_dims[rows.rank() - 2] ||
      counts.dims.back() != counts.global_dims.back()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected whole rows and counts, got ", rows.ToString(), " and ", counts.ToString()));
  }
  GroupedProblem problem;
  problem.outer = extents.rows();
  problem.rows = extents['n'];
  problem.k = extents['k'];
  problem.m = extents['m'];
  problem.groups = extents['g'];
  problem.begin = matrices.origin[0];
  problem.count = extents['e'];
  problem.type = rows.dtype;
  problem.result = spec.outputs[0].dtype;
  return problem;
}

}  // namespace

absl::StatusOr<GroupedProblem> MakeGroupedMatmul(const KernelSpec& spec) {
  const bool transposed = spec.attributes.Has("transposed");
  const char* const rule = transposed ? "any:.nk,any:emk,i32:.g->any:.nm" : "any:.nk,any:ekm,i32:.g->any:.nm";
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 3, 1));
  WEFT_ASSIGN_OR_RETURN(GroupedProblem problem, Make(spec, rule, spec.inputs[1]));
  problem.transposed = transposed;
  return problem;
}

absl::StatusOr<GroupedProblem> MakeGroupedOuter(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 3, 1));
  return Make(spec, "any:.nk,any:.nm,i32:.g->any:ekm", spec.outputs[0]);
}

absl::Status BadCount(const GroupedProblem& problem, int64_t where, int64_t count) {
  return absl::OutOfRangeError(absl::StrCat("count of group ", where % problem.groups, " of ", where / problem.groups,
                                            ": expected 0 or more, and ", problem.rows, " rows in all groups, got ",
                                            count));
}

}  // namespace weft::einsum
