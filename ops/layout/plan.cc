#include "ops/layout/plan.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/abi/match_spec.h"

namespace weft::layout {
namespace {

// The product of dims[begin, end).
int64_t Product(const std::vector<int64_t>& dims, int64_t begin, int64_t end) {
  int64_t n = 1;
  for (int64_t d = begin; d < end; ++d) n *= dims[d];
  return n;
}

absl::Status CheckDims(const char* what, const TensorSpec& tensor, const std::vector<int64_t>& expected) {
  if (tensor.dims == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": expected dims [", absl::StrJoin(expected, ","), "], got ", tensor.ToString()));
}

// Rows of a tensor that is cut along `dim`: their number, and the bytes of one
// step along the dim.
struct Cut {
  int64_t count, unit;
};

Cut CutAt(const TensorSpec& tensor, int64_t dim) {
  return {Product(tensor.dims, 0, dim),
          Product(tensor.dims, dim + 1, tensor.rank()) * static_cast<int64_t>(SizeOf(tensor.dtype))};
}

TileDim MakeTileDim(const TensorSpec& x, const TensorSpec& y, int64_t d, int64_t from_stride) {
  const int64_t begin = std::max(x.origin[d], y.origin[d]) - y.origin[d];
  const int64_t end = std::min(x.origin[d] + x.dims[d], y.origin[d] + y.dims[d]) - y.origin[d];
  return {y.dims[d], begin, end, y.origin[d] - x.origin[d], from_stride};
}

// The dims of the result, outermost first, neighbours in both tensors merged.
std::vector<PermutedDim> MergedDims(const TensorSpec& x, const std::vector<int64_t>& perm) {
  std::vector<int64_t> strides(x.dims.size());
  int64_t stride = 1;
  for (int64_t d = x.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= x.dims[d];
  }
  std::vector<PermutedDim> dims;
  for (int64_t d : perm) {
    if (x.dims[d] == 1) continue;
    if (!dims.empty() && dims.back().from == strides[d] * x.dims[d]) {
      dims.back().extent *= x.dims[d];
      dims.back().from = strides[d];
    } else {
      dims.push_back({x.dims[d], strides[d], 0});
    }
  }
  stride = 1;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    dim->to = stride;
    stride *= dim->extent;
  }
  return dims;
}

}  // namespace

absl::Status CheckSameType(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 1, 1));
  if (spec.inputs[0].dtype == spec.outputs[0].dtype && SizeOf(spec.inputs[0].dtype) != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("output 0: expected ", NameOf(spec.inputs[0].dtype), ", got ", spec.outputs[0].ToString()));
}

absl::Status CheckCopy(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckSameType(spec));
  return MatchSpec(spec, "any:.->any:.").status();
}

absl::Status CheckReshape(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckSameType(spec));
  if (spec.inputs[0].elements() == spec.outputs[0].elements()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("output 0: expected ", spec.inputs[0].elements(), " elements, got ", spec.outputs[0].ToString()));
}

absl::StatusOr<bool> KeepsValue(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckCopy(spec));
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> axes, spec.attributes.Ints("axes"));
  bool first = true;
  for (int64_t axis : axes) {
    const auto size = static_cast<int64_t>(spec.coordinates.size());
    if (axis < 0 || axis >= size) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute `axes`: expected axes of a mesh of ", size, ", got ", axis));
    }
    first = first && spec.coordinates[axis] == 0;
  }
  return first;
}

absl::StatusOr<SlicePlan> PlanSlice(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckSameType(spec));
  const TensorSpec& x = spec.inputs[0];
  WEFT_ASSIGN_OR_RETURN(int64_t dim, IntAttribute(spec, "dim", 0, x.rank()));
  WEFT_ASSIGN_OR_RETURN(int64_t size, IntAttribute(spec, "size", 0, x.dims[dim] + 1));
  WEFT_ASSIGN_OR_RETURN(int64_t offset, IntAttribute(spec, "offset", 0, x.dims[dim] - size + 1));
  std::vector<int64_t> dims = x.dims;
  dims[dim] = size;
  WEFT_RETURN_IF_ERROR(CheckDims("output 0", spec.outputs[0], dims));
  const Cut cut = CutAt(x, dim);
  return SlicePlan{cut.count, size * cut.unit, offset * cut.unit, x.dims[dim] * cut.unit};
}

absl::StatusOr<PadPlan> PlanPad(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckSameType(spec));
  const TensorSpec& x = spec.inputs[0];
  WEFT_ASSIGN_OR_RETURN(int64_t dim, IntAttribute(spec, "dim", 0, x.rank()));
  WEFT_ASSIGN_OR_RETURN(int64_t before, spec.attributes.Int("before"));
  WEFT_ASSIGN_OR_RETURN(int64_t after, spec.attributes.Int("after"));
  if (before < 0 || after < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("attributes `before` and `after`: expected 0 or more, got ", before, " and ", after));
  }
  std::vector<int64_t> dims = x.dims;
  dims[dim] += before + after;
  WEFT_RETURN_IF_ERROR(CheckDims("output 0", spec.outputs[0], dims));
  const Cut cut = CutAt(x, dim);
  return PadPlan{cut.count, x.dims[dim] * cut.unit, before * cut.unit, after * cut.unit};
}

absl::StatusOr<ConcatPlan> PlanConcat(const KernelSpec& spec) {
  if (spec.inputs.empty()) return absl::InvalidArgumentError("expected one or more inputs, got none");
  WEFT_RETURN_IF_ERROR(CheckArity(spec, spec.inputs.size(), 1));
  const TensorSpec& y = spec.outputs[0];
  WEFT_ASSIGN_OR_RETURN(int64_t dim, IntAttribute(spec, "dim", 0, y.rank()));
  const Cut cut = CutAt(y, dim);
  ConcatPlan plan{.count = cut.count};
  int64_t sum = 0;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const TensorSpec& x = spec.inputs[i];
    const std::string what = absl::StrCat("input ", i);
    if (x.dtype != y.dtype || x.rank() != y.rank()) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": expected ", NameOf(y.dtype), " of rank ", y.rank(), ", got ", x.ToString()));
    }
    std::vector<int64_t> dims = y.dims;
    dims[dim] = x.dims[dim];
    WEFT_RETURN_IF_ERROR(CheckDims(what.c_str(), x, dims));
    plan.bytes.push_back(x.dims[dim] * cut.unit);
    sum += x.dims[dim];
  }
  if (sum != y.dims[dim]) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected dim ", dim, " to be ", sum, ", got ", y.ToString()));
  }
  plan.stride = sum * cut.unit;
  return plan;
}

absl::StatusOr<std::vector<PermutedDim>> PlanTranspose(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckSameType(spec));
  const TensorSpec& x = spec.inputs[0];
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> perm, spec.attributes.Ints("perm"));
  std::vector<int64_t> sorted = perm, expected(x.dims.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `perm`: expected a permutation of ", x.rank(),
                                                   " dims, got [", absl::StrJoin(perm, ","), "]"));
  }
  std::vector<int64_t> dims;
  for (int64_t d : perm) dims.push_back(x.dims[d]);
  WEFT_RETURN_IF_ERROR(CheckDims("output 0", spec.outputs[0], dims));
  return MergedDims(x, perm);
}

absl::StatusOr<CopyTilePlan> PlanCopyTile(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckSameType(spec));
  const TensorSpec &x = spec.inputs[0], &y = spec.outputs[0];
  if (x.global_dims != y.global_dims) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected a tile of the tensor that ", x.ToString(), " is of, got ", y.ToString()));
  }
  int64_t d = y.rank() - 1, unit = static_cast<int64_t>(SizeOf(y.dtype));
  while (d >= 0 && x.dims[d] == y.dims[d] && x.origin[d] == y.origin[d]) unit *= y.dims[d--];
  CopyTilePlan plan{.row = d < 0 ? TileDim{1, 0, 1, 0, unit} : MakeTileDim(x, y, d, unit), .unit = unit};
  int64_t stride = d < 0 ? unit : unit * x.dims[d];
  for (--d; d >= 0; --d) {
    plan.outer.push_back(MakeTileDim(x, y, d, stride));
    plan.rows *= y.dims[d];
    stride *= x.dims[d];
  }
  return plan;
}

}  // namespace weft::layout
