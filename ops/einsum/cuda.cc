// GPU kernels of einsum: operands f32, bf16 or f16, both of one type; a result of
// that type or f32; summed in float.
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/einsum/cuda_grouped.h"
#include "ops/einsum/cuda_product.h"
#include "ops/families.h"

namespace weft {
namespace {

absl::Status CheckTypes(const KernelSpec& spec) {
  const DType left = spec.inputs[0].dtype, right = spec.inputs[1].dtype, result = spec.outputs[0].dtype;
  if (WidensToFloat(left) && left == right && (result == left || result == DType::kF32)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("expected operands of f32, bf16 or f16 and a result of that type or f32, got ",
                   spec.inputs[0].ToString(), ", ", spec.inputs[1].ToString(), " and ", spec.outputs[0].ToString()));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateEinsum(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(einsum::Epilogue epilogue, einsum::ParseEpilogue(spec));
  WEFT_RETURN_IF_ERROR(CheckTypes(spec));
  WEFT_ASSIGN_OR_RETURN(std::string equation, spec.attributes.String("equation"));
  WEFT_ASSIGN_OR_RETURN(
      einsum::Contraction parsed,
      einsum::ParseContraction(equation, {spec.inputs[0].dims, spec.inputs[1].dims, spec.outputs[0].dims}));
  const einsum::Contraction contraction = einsum::Merged(einsum::Oriented(std::move(parsed)));
  // In order of preference; the last does everything.
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = einsum::CreateLibraryProduct(spec, contraction, epilogue);
  if (kernel.ok() || !absl::IsUnimplemented(kernel.status())) return kernel;
  if (epilogue.any()) {
    kernel = einsum::CreateLibraryProduct(einsum::ProductOf(spec), contraction, {});
    if (kernel.ok()) return einsum::CreateFollowed(spec, epilogue, *std::move(kernel), /*finish=*/true);
    if (!absl::IsUnimplemented(kernel.status())) return kernel;
  }
  kernel = einsum::CreateTiledProduct(spec, contraction, epilogue);
  if (!kernel.ok() || !epilogue.sums) return kernel;
  return einsum::CreateFollowed(spec, epilogue, *std::move(kernel), /*finish=*/false);
}

}  // namespace

void RegisterEinsumCudaKernels(KernelRegistry& registry) {
  registry.Register("einsum", &CreateEinsum);
  registry.Register("grouped_matmul", &einsum::CreateGpuGroupedMatmul);
  registry.Register("grouped_outer", &einsum::CreateGpuGroupedOuter);
}

}  // namespace weft
