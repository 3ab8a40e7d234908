#include "ops/window/problem.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/abi/match_spec.h"

namespace weft::window {
namespace {

using Dims = std::vector<int64_t>;

absl::Status CheckTensor(const std::string& what, const TensorSpec& tensor, DType type, const Dims& dims) {
  if (tensor.dtype == type && tensor.dims == dims) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, ": expected ", NameOf(type), " of dims [",
                                                 absl::StrJoin(dims, ","), "], got ", tensor.ToString()));
}

// A list of `count` numbers of `least` or more, or `absent` where there is none.
absl::StatusOr<Dims> Numbers(const KernelSpec& spec, const char* name, int64_t least, const Dims& absent) {
  if (!spec.attributes.Has(name)) return absent;
  WEFT_ASSIGN_OR_RETURN(Dims numbers, spec.attributes.Ints(name));
  bool fits = numbers.size() == absent.size();
  for (int64_t number : numbers) fits = fits && number >= least;
  if (fits) return numbers;
  return absl::InvalidArgumentError(absl::StrCat("attribute `", name, "`: expected ", absent.size(), " numbers from ",
                                                 least, " on, got [", absl::StrJoin(numbers, ","), "]"));
}

// The windows, and the dims of what goes with an image.
struct Problem {
  Windows windows;
  Dims pooled, unfolded;
};

absl::StatusOr<Problem> MakeProblem(const KernelSpec& spec, const Dims& image, int64_t dim, const Dims& size) {
  const auto count = static_cast<int64_t>(size.size());
  if (count < 1 || count > kMaxDims || dim < 0 || dim + count > static_cast<int64_t>(image.size())) {
    return absl::InvalidArgumentError(absl::StrCat("expected windows along 1 to ", kMaxDims, " dims of ", image.size(),
                                                   ", got ", count, " from ", dim, " on"));
  }
  const Dims ones(size.size(), 1), zeros(size.size(), 0);
  WEFT_ASSIGN_OR_RETURN(Dims stride, Numbers(spec, "stride", 1, ones));
  WEFT_ASSIGN_OR_RETURN(Dims before, Numbers(spec, "padding", 0, zeros));
  WEFT_ASSIGN_OR_RETURN(Dims after, Numbers(spec, "padding_after", 0, before));
  WEFT_ASSIGN_OR_RETURN(Dims dilation, Numbers(spec, "dilation", 1, ones));
  Problem problem;
  for (int64_t d = 0; d < dim; ++d) problem.windows.outer *= image[d];
  for (size_t d = dim + count; d < image.size(); ++d) problem.windows.inner *= image[d];
  problem.pooled.assign(image.begin(), image.begin() + dim);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t extent = image[dim + i];
    const int64_t rest = extent + before[i] + after[i] - dilation[i] * (size[i] - 1) - 1;
    if (size[i] < 1 || rest < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected windows that fit into dim ", dim + i, " of ", extent, ", got a size of ", size[i]));
    }
    const int64_t places = rest / stride[i] + 1;
    problem.windows.dims[kMaxDims - count + i] = {extent, places, size[i], stride[i], before[i], dilation[i]};
    problem.pooled.push_back(places);
  }
  problem.unfolded = problem.pooled;
  problem.unfolded.insert(problem.unfolded.end(), size.begin(), size.end());
  for (Dims* dims : {&problem.pooled, &problem.unfolded}) {
    dims->insert(dims->end(), image.begin() + dim + count, image.end());
  }
  return problem;
}

// By the attributes `dim` and `size`.
absl::StatusOr<Problem> ProblemOf(const KernelSpec& spec, const TensorSpec& image) {
  WEFT_ASSIGN_OR_RETURN(int64_t dim, spec.attributes.Int("dim"));
  WEFT_ASSIGN_OR_RETURN(Dims size, spec.attributes.Ints("size"));
  return MakeProblem(spec, image.dims, dim, size);
}

// Along the dims before the last one.
absl::StatusOr<Problem> DepthwiseProblem(const KernelSpec& spec, const TensorSpec& image, const Dims& size) {
  return MakeProblem(spec, image.dims, image.rank() - static_cast<int64_t>(size.size()) - 1, size);
}

absl::Status CheckFloat(const TensorSpec& tensor) {
  if (WidensToFloat(tensor.dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input 0: expected a floating-point type, got ", tensor.ToString()));
}

// The sizes of weights [size..., channels].
absl::StatusOr<Dims> SizeOfWeights(const TensorSpec& weights) {
  if (weights.rank() >= 2) return Dims(weights.dims.begin(), weights.dims.end() - 1);
  return absl::InvalidArgumentError(absl::StrCat("weights: expected two or more dims, got ", weights.ToString()));
}

Dims WithChannels(Dims size, const TensorSpec& image) {
  size.push_back(image.rank() > 0 ? image.dims.back() : 1);
  return size;
}

}  // namespace

absl::StatusOr<Windows> UnfoldWindows(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 1, 1));
  WEFT_ASSIGN_OR_RETURN(Problem problem, ProblemOf(spec, spec.inputs[0]));
  WEFT_RETURN_IF_ERROR(CheckTensor("output 0", spec.outputs[0], spec.inputs[0].dtype, problem.unfolded));
  return problem.windows;
}

absl::StatusOr<Windows> FoldWindows(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 1, 1));
  WEFT_RETURN_IF_ERROR(CheckFloat(spec.inputs[0]));
  WEFT_ASSIGN_OR_RETURN(Problem problem, ProblemOf(spec, spec.outputs[0]));
  WEFT_RETURN_IF_ERROR(CheckTensor("input 0", spec.inputs[0], spec.outputs[0].dtype, problem.unfolded));
  return problem.windows;
}

absl::StatusOr<Windows> MaxPoolWindows(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 1, 1));
  WEFT_RETURN_IF_ERROR(CheckFloat(spec.inputs[0]));
  WEFT_ASSIGN_OR_RETURN(Problem problem, ProblemOf(spec, spec.inputs[0]));
  WEFT_RETURN_IF_ERROR(CheckTensor("output 0", spec.outputs[0], spec.inputs[0].dtype, problem.pooled));
  return problem.windows;
}

absl::StatusOr<Windows> MaxPoolGradWindows(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 3, 1));
  WEFT_RETURN_IF_ERROR(CheckFloat(spec.inputs[0]));
  const TensorSpec& x = spec.inputs[1];
  WEFT_ASSIGN_OR_RETURN(Problem problem, ProblemOf(spec, x));
  WEFT_RETURN_IF_ERROR(CheckTensor("input 0", spec.inputs[0], x.dtype, problem.pooled));
  WEFT_RETURN_IF_ERROR(CheckTensor("input 2", spec.inputs[2], x.dtype, problem.pooled));
  WEFT_RETURN_IF_ERROR(CheckTensor("output 0", spec.outputs[0], x.dtype, x.dims));
  return problem.windows;
}

absl::StatusOr<Windows> DepthwiseWindows(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
  const TensorSpec &x = spec.inputs[0], &w = spec.inputs[1];
  WEFT_RETURN_IF_ERROR(CheckFloat(x));
  WEFT_ASSIGN_OR_RETURN(Dims size, SizeOfWeights(w));
  WEFT_ASSIGN_OR_RETURN(Problem problem, DepthwiseProblem(spec, x, size));
  WEFT_RETURN_IF_ERROR(CheckTensor("input 1", w, x.dtype, WithChannels(size, x)));
  WEFT_RETURN_IF_ERROR(CheckTensor("output 0", spec.outputs[0], x.dtype, problem.pooled));
  return problem.windows;
}

absl::StatusOr<Windows> DepthwiseGradInputWindows(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
  const TensorSpec &dy = spec.inputs[0], &w = spec.inputs[1], &dx = spec.outputs[0];
  WEFT_RETURN_IF_ERROR(CheckFloat(dy));
  WEFT_ASSIGN_OR_RETURN(Dims size, SizeOfWeights(w));
  WEFT_ASSIGN_OR_RETURN(Problem problem, DepthwiseProblem(spec, dx, size));
  WEFT_RETURN_IF_ERROR(CheckTensor("input 0", dy, dx.dtype, problem.pooled));
  WEFT_RETURN_IF_ERROR(CheckTensor("input 1", w, dx.dtype, WithChannels(size, dx)));
  return problem.windows;
}

absl::StatusOr<Windows> DepthwiseGradWeightWindows(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
  const TensorSpec &x = spec.inputs[0], &dy = spec.inputs[1];
  WEFT_RETURN_IF_ERROR(CheckFloat(x));
  WEFT_ASSIGN_OR_RETURN(Dims size, spec.attributes.Ints("size"));
  WEFT_ASSIGN_OR_RETURN(Problem problem, DepthwiseProblem(spec, x, size));
  WEFT_RETURN_IF_ERROR(CheckTensor("input 1", dy, x.dtype, problem.pooled));
  WEFT_RETURN_IF_ERROR(CheckTensor("output 0", spec.outputs[0], DType::kF32, WithChannels(size, x)));
  return problem.windows;
}

}  // namespace weft::window
