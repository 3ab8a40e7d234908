// GPU kernels of relu, silu and gelu and of their gradients, for f32, bf16 and
// f16 (computed in float). An output may have the address of an input.
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/activation/cuda_arguments.h"
#include "ops/families.h"

namespace weft {
namespace {

using activation::ActivationArguments;
using activation::kThreads;

// relu, relu_grad, ...: the gradients have dy before x. All are of one type.
absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, const std::string& formula, bool grad) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, grad ? "any:.,any:.->any:." : "any:.->any:."));
  const DType type = spec.outputs[0].dtype;
  for (const TensorSpec& input : spec.inputs) {
    if (input.dtype != type || !WidensToFloat(type)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected f32, bf16 or f16, all alike, got ", input.ToString(), " and ", NameOf(type)));
    }
  }
  const int64_t n = spec.outputs[0].elements(), pack = static_cast<int64_t>(16 / SizeOf(type));
  return MakeGpuLaunch(spec, "activation", absl::StrCat(formula, grad ? "_grad_" : "_", NameOf(type)),
                       LoopGrid(*spec.gpu, (n + pack - 1) / pack, kThreads), ActivationArguments{.n = n},
                       [grad](ActivationArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.dy = inputs[0];
                         arguments.x = inputs[grad ? 1 : 0];
                         arguments.y = outputs[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  const bool grad = spec.name.ends_with("_grad");
  const std::string base = grad ? spec.name.substr(0, spec.name.size() - 5) : spec.name;
  if (base != "gelu") return Make(spec, base, grad);
  WEFT_ASSIGN_OR_RETURN(std::string approximate, spec.attributes.String("approximate"));
  if (approximate == "tanh") return Make(spec, "gelu_tanh", grad);
  if (approximate == "none") return Make(spec, "gelu_erf", grad);
  return absl::InvalidArgumentError(
      absl::StrCat("attribute `approximate`: expected `tanh` or `none`, got `", approximate, "`"));
}

}  // namespace

void RegisterActivationCudaKernels(KernelRegistry& registry) {
  for (const char* name : {"relu", "relu_grad", "silu", "silu_grad", "gelu", "gelu_grad"}) {
    registry.Register(name, &Create);
  }
}

}  // namespace weft
