// GPU kernels of softmax and softmax_grad over the last dim, for f32, bf16 and
// f16 (computed in float). An output may have the address of an input.
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/families.h"
#include "ops/softmax/cuda_arguments.h"

namespace weft {
namespace {

using softmax::kThreads;
using softmax::SoftmaxArguments;

// softmax and softmax_grad: the last input and the output are [rows, n], of one type.
absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  const bool grad = spec.name == "softmax_grad";
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, grad ? "any:.v,any:.v->any:.v" : "any:.v->any:.v"));
  const DType type = spec.outputs[0].dtype;
  for (const TensorSpec& input : spec.inputs) {
    if (input.dtype != type || !WidensToFloat(type)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected f32, bf16 or f16, all alike, got ", input.ToString(), " and ", NameOf(type)));
    }
  }
  const SoftmaxArguments arguments{.rows = extents.rows(), .n = extents['v']};
  const GpuGrid grid = LoopGrid(*spec.gpu, extents.rows() * kThreads, kThreads);  // a block a row
  return MakeGpuLaunch(spec, "softmax", absl::StrCat(spec.name, "_", NameOf(type)), grid, arguments,
                       [grad](SoftmaxArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.x = inputs[0];
                         if (grad) arguments.y_in = inputs[1];
                         arguments.y = outputs[0];
                       });
}

}  // namespace

void RegisterSoftmaxCudaKernels(KernelRegistry& registry) {
  registry.Register("softmax", &Create);
  registry.Register("softmax_grad", &Create);
}

}  // namespace weft
