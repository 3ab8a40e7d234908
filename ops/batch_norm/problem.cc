#include "ops/batch_norm/problem.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::batch_norm {
namespace {

absl::Status CheckTensors(const KernelSpec& spec, const std::vector<int64_t>& kept, const char* side,
                          const std::vector<TensorSpec>& tensors, const char* letters) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    TensorSpec expected = TensorSpec::Whole(DType::kF32, kept);
    if (letters[i] == 'x') expected = TensorSpec::Whole(spec.inputs[0].dtype, spec.inputs[0].dims);
    if (letters[i] == 'c') expected = TensorSpec::Whole(DType::kF32, {kept.back()});
    if (tensors[i].dtype == expected.dtype && tensors[i].dims == expected.dims) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(side, " ", i, ": expected ", expected.ToString(), ", got ", tensors[i].ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Problem> MakeProblem(const KernelSpec& spec, const char* inputs, const char* outputs) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, std::strlen(inputs), std::strlen(outputs)));
  WEFT_ASSIGN_OR_RETURN(std::vector<bool> reduced, reduce::ReducedDims(spec));
  const TensorSpec& x = spec.inputs[0];
  if (!WidensToFloat(x.dtype)) {
    return absl::InvalidArgumentError(absl::StrCat("input 0: expected f32, bf16 or f16, got ", x.ToString()));
  }
  Problem problem{.plan = reduce::PlanOf(x.dims, reduced)};
  std::vector<int64_t> kept;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d]) {
      problem.count *= static_cast<double>(x.global_dims[d]);
    } else {
      kept.push_back(x.dims[d]);
    }
  }
  if (kept.empty()) return absl::InvalidArgumentError("attribute `dims`: expected not all dims");
  problem.channels = kept.back();
  WEFT_RETURN_IF_ERROR(CheckTensors(spec, kept, "input", spec.inputs, inputs));
  WEFT_RETURN_IF_ERROR(CheckTensors(spec, kept, "output", spec.outputs, outputs));
  WEFT_ASSIGN_OR_RETURN(double eps, FloatAttribute(spec, "eps", 0));
  problem.eps = static_cast<float>(eps);
  return problem;
}

}  // namespace weft::batch_norm
