// GPU kernels of random_normal and random_uniform, f32: the random words of
// cpu.cc, so that uniform numbers are its very bits and normal ones its numbers
// but for the rounding of logarithm and sine.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/philox.h"
#include "ops/abi/tile_runs.h"
#include "ops/families.h"
#include "ops/random/cuda_arguments.h"

namespace weft {
namespace {

using random::kThreads;
using random::RandomArguments;

absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, RandomArguments arguments, uint64_t seed) {
  WEFT_ASSIGN_OR_RETURN(arguments.step, AddStepNumber(spec));
  WEFT_ASSIGN_OR_RETURN(arguments.tile, GpuTileOf(spec.outputs[0]));
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

absl::StatusOr<std::unique_ptr<Kernel>> CreateNormal(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->*").status());
  WEFT_ASSIGN_OR_RETURN(double mean, spec.attributes.Float("mean"));
  WEFT_ASSIGN_OR_RETURN(double std, spec.attributes.Float("std"));
  WEFT_ASSIGN_OR_RETURN(int64_t seed, spec.attributes.Int("seed"));
  return Make(spec, {.a = static_cast<float>(mean), .b = static_cast<float>(std)}, static_cast<uint64_t>(seed));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateUniform(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->*").status());
  WEFT_ASSIGN_OR_RETURN(double low, spec.attributes.Float("low"));
  WEFT_ASSIGN_OR_RETURN(double high, spec.attributes.Float("high"));
  WEFT_ASSIGN_OR_RETURN(int64_t seed, spec.attributes.Int("seed"));
  if (!(low <= high)) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `high`: expected ", low, " or more, got ", high));
  }
  const auto from = static_cast<float>(low), to = static_cast<float>(high);
  return Make(spec, {.a = from, .b = static_cast<float>(high - low), .last = std::nextafter(to, from)},
              static_cast<uint64_t>(seed));
}

}  // namespace

void RegisterRandomCudaKernels(KernelRegistry& registry) {
  registry.Register("random_normal", &CreateNormal);
  registry.Register("random_uniform", &CreateUniform);
}

}  // namespace weft
