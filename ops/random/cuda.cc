#include "ops/random/cuda.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/philox.h"
#include "ops/abi/tile_runs.h"
#include "ops/random/cuda_arguments.h"

namespace weft {
namespace {

using random::kThreads;
using random::RandomArguments;

absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, RandomArguments arguments, uint64_t seed) {
  absl::StatusOr<GpuTile> tile = GpuTileOf(spec.outputs[0]);
  if (!tile.ok()) return tile.status();
  arguments.tile = *tile;
  arguments.n = spec.outputs[0].elements();
  int64_t elements = 1;
  for (int64_t extent : spec.outputs[0].global_dims) elements *= extent;
  return MakeGpuLaunch(
      spec, "random", spec.name, LoopGrid(*spec.gpu, arguments.n, kThreads), arguments,
      [seed, elements](RandomArguments& arguments, const RunContext& context, GpuInputs, GpuOutputs outputs) {
        arguments.y = static_cast<float*>(outputs[0]);
        arguments.key = MixSeed(context.seed, seed);
        arguments.first = static_cast<uint64_t>(context.micro_batch * elements);
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeRandom(const KernelSpec& spec, RandomArguments arguments, uint64_t seed) {
  const absl::StatusOr<const double*> step = AddStepNumber(spec);
  if (!step.ok()) return step.status();
  arguments.step = *step;
  return Make(spec, arguments, seed);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateNormal(const KernelSpec& spec) {
  if (auto extents = MatchSpec(spec, "->*"); !extents.ok()) return extents.status();
  absl::StatusOr<double> mean = spec.attributes.Float("mean"), std = spec.attributes.Float("std");
  absl::StatusOr<int64_t> seed = spec.attributes.Int("seed");
  for (const absl::Status& status : {mean.status(), std.status(), seed.status()}) {
    if (!status.ok()) return status;
  }
  return MakeRandom(spec, {.a = static_cast<float>(*mean), .b = static_cast<float>(*std)},
                    static_cast<uint64_t>(*seed));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateUniform(const KernelSpec& spec) {
  if (auto extents = MatchSpec(spec, "->*"); !extents.ok()) return extents.status();
  absl::StatusOr<double> low = spec.attributes.Float("low"), high = spec.attributes.Float("high");
  absl::StatusOr<int64_t> seed = spec.attributes.Int("seed");
  for (const absl::Status& status : {low.status(), high.status(), seed.status()}) {
    if (!status.ok()) return status;
  }
  if (!(*low <= *high)) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `high`: expected ", *low, " or more, got ", *high));
  }
  const auto from = static_cast<float>(*low), to = static_cast<float>(*high);
  return MakeRandom(spec, {.a = from, .b = static_cast<float>(*high - *low), .last = std::nextafter(to, from)},
                    static_cast<uint64_t>(*seed));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateFill(const KernelSpec& spec) {
  if (auto extents = MatchSpec(spec, "->*"); !extents.ok()) return extents.status();
  absl::StatusOr<double> value = spec.attributes.Float("value");
  if (!value.ok()) return value.status();
  return Make(spec, {.a = static_cast<float>(*value)}, 0);
}

}  // namespace

void RegisterRandomCudaKernels(KernelRegistry& registry) {
  registry.Register("random_normal", &CreateNormal);
  registry.Register("random_uniform", &CreateUniform);
  registry.Register("fill", &CreateFill);
}

}  // namespace weft
