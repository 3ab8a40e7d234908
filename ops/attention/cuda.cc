// GPU kernels of attention and its gradient, for f32, bf16 and f16 (summed in float) and head sizes
// up to 256.
// Adds `attention`, `attention_grad`, `attention_bias_grad` and `attention_merge`, all deterministic.
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/attention/cuda_attention.h"
#include "ops/attention/cuda_merge.h"
#include "ops/families.h"

namespace weft {
namespace {

// In order of preference; the last does everything.
constexpr attention::CudaAttentionFactory kWays[] = {
    &attention::CreatePaddedAttention, &attention::CreateLibraryAttention, &attention::CreateTensorAttention,
    &attention::CreatePlainAttention};

absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(attention::Problem problem, attention::ParseProblem(spec));
  absl::StatusOr<std::unique_ptr<Kernel>> kernel;
  for (attention::CudaAttentionFactory create : kWays) {
    kernel = create(spec, problem);
    if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) break;
  }
  return kernel;
}

}  // namespace

void RegisterAttentionCudaKernels(KernelRegistry& registry) {
  registry.Register("attention", &Create);
  registry.Register("attention_grad", &Create);
  registry.Register("attention_bias_grad", &Create);
  registry.Register("attention_merge", &attention::CreateMerge);
}

}  // namespace weft
