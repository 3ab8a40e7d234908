#include "ops/attention/cuda.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/attention/cuda_attention.h"

namespace weft {
namespace {

// In order of preference; the last does everything.
constexpr attention::CudaAttentionFactory kWays[] = {
    &attention::CreateLibraryAttention, &attention::CreateTensorAttention, &attention::CreatePlainAttention};

absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  absl::StatusOr<attention::Problem> problem = attention::ParseProblem(spec);
  if (!problem.ok()) return problem.status();
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
