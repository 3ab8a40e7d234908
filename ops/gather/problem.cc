#include "ops/gather/problem.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::gather {
namespace {

// The most positions of a batch and rows of a tile: kernels keep their numbers in 32 bits.
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

absl::StatusOr<int64_t> BatchOf(const KernelSpec& spec, int64_t most) {
  if (!spec.attributes.Has("batch")) return 0;
  return IntAttribute(spec, "batch", 0, most + 1);
}

}  // namespace

absl::StatusOr<GatherProblem> MakeProblem(const KernelSpec& spec, const TensorSpec& table, const TensorSpec& ids,
                                          const TensorSpec& rows) {
  if (ids.dtype != DType::kI32 && ids.dtype != DType::kI64) {
    return absl::InvalidArgumentError(absl::StrCat("input 1: expected i32 or i64, got ", ids.ToString()));
  }
  if (!WidensToFloat(table.dtype) && table.dtype != DType::kI32 && table.dtype != DType::kI64) {
    return absl::InvalidArgumentError(absl::StrCat("expected f32, bf16, f16, i32 or i64, got ", table.ToString()));
  }
  WEFT_ASSIGN_OR_RETURN(int64_t dim, IntAttribute(spec, "dim", 0, table.rank()));
  WEFT_ASSIGN_OR_RETURN(int64_t batch, BatchOf(spec, std::min(dim, ids.rank())));
  std::vector<int64_t> dims(table.dims.begin(), table.dims.begin() + dim);
  dims.insert(dims.end(), ids.dims.begin() + batch, ids.dims.end());
  dims.insert(dims.end(), table.dims.begin() + dim + 1, table.dims.end());
  if (rows.dims != dims || rows.dtype != table.dtype ||
      !std::equal(ids.dims.begin(), ids.dims.begin() + batch, table.dims.begin())) {
    return absl::InvalidArgumentError(absl::StrCat("expected the rows of ", table.ToString(), " along dim ", dim,
                                                   " that ", ids.ToString(), " names, got ", rows.ToString()));
  }
  GatherProblem problem;
  for (int64_t d = 0; d < batch; ++d) problem.batch *= table.dims[d];
  for (int64_t d = batch; d < dim; ++d) problem.outer *= table.dims[d];
  for (int64_t d = batch; d < ids.rank(); ++d) problem.positions *= ids.dims[d];
  for (int64_t d = dim + 1; d < table.rank(); ++d) problem.inner *= table.dims[d];
  problem.size = table.global_dims[dim];
  problem.begin = table.origin[dim];
  problem.count = table.dims[dim];
  problem.type = table.dtype;
  problem.wide_ids = ids.dtype == DType::kI64;
  if (problem.positions > kMost || problem.count > kMost) {
    return absl::InvalidArgumentError(absl::StrCat("expected at most ", kMost, " positions and rows, got ",
                                                   problem.positions, " and ", problem.count));
  }
  return problem;
}

absl::Status CheckWholePositions(const KernelSpec& spec, const TensorSpec& ids) {
  WEFT_ASSIGN_OR_RETURN(int64_t batch, BatchOf(spec, ids.rank()));
  if (std::equal(ids.dims.begin() + batch, ids.dims.end(), ids.global_dims.begin() + batch)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input 1: expected the dims from ", batch, " on to be whole, got ", ids.ToString()));
}

}  // namespace weft::gather
