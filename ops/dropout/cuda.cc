// The GPU kernel of dropout, for f32, bf16 and f16: the masks of cpu.cc. y may have
// the address of x.
#include "absl/strings/str_cat.h"
#include "ops/abi/dropout_mask.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/dropout/cuda_arguments.h"
#include "ops/families.h"

namespace weft {
namespace {

using dropout::DropoutArguments;
using dropout::kThreads;

absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:.->any:.").status());
  const TensorSpec& x = spec.inputs[0];
  const DType type = spec.outputs[0].dtype;
  if (x.dtype != type || !WidensToFloat(type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected f32, bf16 or f16, both alike, got ", x.ToString(), " and ", NameOf(type)));
  }
  WEFT_ASSIGN_OR_RETURN(DropoutMaskSource mask, DropoutMaskSource::Create(spec, x));
  const DropoutArguments arguments{.n = x.elements()};
  const auto pack = static_cast<int64_t>(16 / SizeOf(type));
  return MakeGpuLaunch(spec, "dropout", absl::StrCat("dropout_", NameOf(type)),
                       LoopGrid(*spec.gpu, (arguments.n + pack - 1) / pack, kThreads), arguments,
                       [mask](DropoutArguments& a, const RunContext& context, GpuInputs in, GpuOutputs out) {
                         a.x = in[0];
                         a.y = out[0];
                         a.mask = mask.MaskFor(context);
                       });
}

}  // namespace

void RegisterDropoutCudaKernels(KernelRegistry& registry) { registry.Register("dropout", &Create); }

}  // namespace weft
