#include "ops/dropout/cuda.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/dropout_mask.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/dropout/cuda_arguments.h"

namespace weft {
namespace {

using dropout::DropoutArguments;
using dropout::kThreads;

absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
  if (auto extents = MatchSpec(spec, "any:.->any:."); !extents.ok()) return extents.status();
  const TensorSpec& x = spec.inputs[0];
  const DType type = spec.outputs[0].dtype;
  if (x.dtype != type || !IsGpuFloat(type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected f32, bf16 or f16, both alike, got ", x.ToString(), " and ", NameOf(type)));
  }
  absl::StatusOr<DropoutMaskSource> mask = DropoutMaskSource::Create(spec, x);
  if (!mask.ok()) return mask.status();
  const DropoutArguments arguments{.n = x.elements()};
  const auto pack = static_cast<int64_t>(16 / SizeOf(type));
  return MakeGpuLaunch(spec, "dropout", absl::StrCat("dropout_", NameOf(type)),
                       LoopGrid(*spec.gpu, (arguments.n + pack - 1) / pack, kThreads), arguments,
                       [mask = *mask](DropoutArguments& a, const RunContext& context, GpuInputs in, GpuOutputs out) {
                         a.x = in[0];
                         a.y = out[0];
                         a.mask = mask.MaskFor(context);
                       });
}

}  // namespace

void RegisterDropoutCudaKernels(KernelRegistry& registry) { registry.Register("dropout", &Create); }

}  // namespace weft
