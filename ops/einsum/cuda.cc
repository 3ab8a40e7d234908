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

absl::StatusOr<einsum::Contraction> ContractionOf(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(std::string equation, spec.attributes.String("equation"));
  WEFT_ASSIGN_OR_RETURN(
      einsum::Contraction parsed,
      einsum::ParseContraction(equation, {spec.inputs[0].dims, spec.inputs[1].dims, spec.outputs[0].dims}));
  return einsum::Merged(einsum::Oriented(std::move(parsed)));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateEinsum(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(einsum::Epilogue epilogue, einsum::ParseEpilogue(spec));
  WEFT_RETURN_IF_ERROR(CheckTypes(spec));
  WEFT_ASSIGN_OR_RETURN(const einsum::Contraction contraction, ContractionOf(spec));
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

// The first micro-batch's product is the sum, those of the others are added to it.
class AccumulatedProduct : public Kernel {
 public:
  AccumulatedProduct(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> others)
      : first_(std::move(first)), others_(std::move(others)) {}
  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    return (context.micro_batch == 0 ? first_ : others_)->Run(context, inputs.first(2), outputs);
  }

 private:
  const std::unique_ptr<Kernel> first_, others_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateAccumulateEinsum(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 3, 1));
  const TensorSpec &sum = spec.inputs[2], &result = spec.outputs[0];
  if (sum.dtype != DType::kF32 || result.dtype != DType::kF32 || sum.dims != result.dims) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one f32 sum, got ", sum.ToString(), " and ", result.ToString()));
  }
  const KernelSpec product = einsum::ProductOf(spec);
  WEFT_RETURN_IF_ERROR(CheckTypes(product));
  WEFT_ASSIGN_OR_RETURN(einsum::Contraction contraction, ContractionOf(product));
  absl::StatusOr<std::unique_ptr<Kernel>> first = einsum::CreateLibraryProduct(product, contraction, {});
  absl::StatusOr<std::unique_ptr<Kernel>> others =
      einsum::CreateLibraryProduct(product, contraction, {}, /*adds=*/true);
  for (const auto* it : {&first, &others}) {
    if (!it->ok() && !absl::IsUnimplemented(it->status())) return it->status();
  }
  if (first.ok() && others.ok()) {
    return std::make_unique<AccumulatedProduct>(*std::move(first), *std::move(others));
  }
  return einsum::CreateTiledProduct(product, contraction, {}, /*accumulates=*/true);
}

}  // namespace

void RegisterEinsumCudaKernels(KernelRegistry& registry) {
  registry.Register("einsum", &CreateEinsum);
  registry.Register("accumulate_einsum", &CreateAccumulateEinsum);
  registry.Register("grouped_matmul", &einsum::CreateGpuGroupedMatmul);
  registry.Register("grouped_outer", &einsum::CreateGpuGroupedOuter);
}

}  // namespace weft
