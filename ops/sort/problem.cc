#include "ops/sort/problem.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::sort {

absl::StatusOr<SortProblem> MakeProblem(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 1, 2));
  const TensorSpec& x = spec.inputs[0];
  if (!WidensToFloat(x.dtype) && x.dtype != DType::kI32) {
    return absl::InvalidArgumentError(absl::StrCat("input 0: expected f32, bf16, f16 or i32, got ", x.ToString()));
  }
  SortProblem problem;
  WEFT_ASSIGN_OR_RETURN(problem.lines, LinesOfInput(spec));
  const int64_t extent = problem.lines.extent;
  if (extent > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("input 0: expected lines of at most 2^31 - 1, got ", x.ToString()));
  }
  problem.type = x.dtype;
  problem.kept = extent;
  problem.descending = spec.attributes.Has("descending");
  if (spec.name == "top_k") {
    WEFT_ASSIGN_OR_RETURN(problem.kept, IntAttribute(spec, "k", 1, extent + 1));
    problem.descending = true;
  }
  std::vector<int64_t> dims = x.dims;
  WEFT_ASSIGN_OR_RETURN(int64_t dim, spec.attributes.Int("dim"));
  dims[dim] = problem.kept;
  const DType types[] = {x.dtype, DType::kI32};
  for (size_t i = 0; i < 2; ++i) {
    const TensorSpec& y = spec.outputs[i];
    if (y.dims != dims || y.dtype != types[i]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output ", i, ": expected ", TensorSpec::Whole(types[i], dims).ToString(), ", got ", y.ToString()));
    }
  }
  return problem;
}

}  // namespace weft::sort
