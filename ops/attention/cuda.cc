#include "ops/attention/cuda.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/attention/cuda_attention.h"

namespace weft {
namespace {

// In order of preference; the last does everything. A vendor's library goes first.
constexpr attention::CudaAttentionFactory kWays[] = {&attention::CreateTensorAttention,
                                                     &attention::CreatePlainAttention};

// One type for all but lse, which the rule of the problem holds to f32.
absl::Status CheckTypes(const KernelSpec& spec) {
  const bool grad = spec.name == "attention_grad";
  const DType type = spec.inputs[0].dtype;
  const auto fits = [&](const TensorSpec& tensor) { return tensor.dtype == type && IsGpuFloat(type); };
  for (size_t i = 0; i < spec.inputs.size() - (grad ? 1 : 0); ++i) {
    if (!fits(spec.inputs[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, ": expected f32, bf16 or f16 as the first input, got ", spec.inputs[i].ToString()));
    }
  }
  for (size_t o = 0; o < (grad ? 3 : 1); ++o) {
    if (!fits(spec.outputs[o])) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", o, ": expected ", NameOf(type), ", got ", spec.outputs[o].ToString()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  absl::StatusOr<attention::Problem> problem = attention::ParseProblem(spec, /*typed=*/true);
  if (!problem.ok()) return problem.status();
  if (absl::Status status = CheckTypes(spec); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Kernel>> kernel;
  for (attention::CudaAttentionFactory create : kWays) {
    kernel = create(spec, *problem);
    if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) break;
  }
  return kernel;
}

}  // namespace

void RegisterAttentionCudaKernels(KernelRegistry& registry) {
  registry.Register("attention", &Create);
  registry.Register("attention_grad", &Create);
}

}  // namespace weft
