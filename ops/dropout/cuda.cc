#include "ops/dropout/cuda.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/philox.h"
#include "ops/abi/tile_runs.h"
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
  absl::StatusOr<double> rate = spec.attributes.Float("rate");
  if (!rate.ok()) return rate.status();
  if (!(*rate >= 0 && *rate < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `rate`: expected 0 or more and less than 1, got ", *rate));
  }
  absl::StatusOr<int64_t> seed = spec.attributes.Int("seed");
  if (!seed.ok()) return seed.status();
  absl::StatusOr<GpuTile> tile = GpuTileOf(x);
  if (!tile.ok()) return tile.status();
  const absl::StatusOr<const double*> step = AddStepNumber(spec);
  if (!step.ok()) return step.status();
  const DropoutArguments arguments{.n = x.elements(),
                                   .tile = *tile,
                                   .step = *step,
                                   .threshold = static_cast<int32_t>(std::ceil(std::ldexp(*rate, 24))),
                                   .scale = static_cast<float>(1 / (1 - *rate))};
  const auto pack = static_cast<int64_t>(16 / SizeOf(type));
  return MakeGpuLaunch(spec, "dropout", absl::StrCat("dropout_", NameOf(type)),
                       LoopGrid(*spec.gpu, (arguments.n + pack - 1) / pack, kThreads), arguments,
                       [seed = static_cast<uint64_t>(*seed), elements = TileRuns(x).global_elements()](
                           DropoutArguments& a, const RunContext& context, GpuInputs in, GpuOutputs out) {
                         a.x = in[0];
                         a.y = out[0];
                         a.first = static_cast<uint64_t>(context.micro_batch * elements);
                         a.key = MixSeed(context.seed, seed);
                       });
}

}  // namespace

void RegisterDropoutCudaKernels(KernelRegistry& registry) { registry.Register("dropout", &Create); }

}  // namespace weft
