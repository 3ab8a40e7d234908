#include "runtime/code/code.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"
#include "ops/abi/status_macros.h"
#include "ops/abi/tile_runs.h"
#include "runtime/code/gpu_code.h"
#include "runtime/code/host_code.h"
#include "runtime/code/levels.h"

namespace weft::code {

Draw::Draw(const RandomTile& random) : seed(random.seed) {
  const TileRuns runs(random.tile);
  first = runs.start();
  elements = runs.global_elements();
}

uint64_t Draw::KeyFor(const RunContext& context) const { return MixSeed(context.seed, seed); }

absl::StatusOr<Segments> Segments::Of(const plan::Kernel& kernel, const KernelSpec& spec) {
  const auto count = static_cast<size_t>(kernel.segments());
  Segments it{.shared = static_cast<size_t>(kernel.shared())};
  const bool fits = spec.inputs.size() >= it.shared && (spec.inputs.size() - it.shared) % count == 0 &&
                    !spec.outputs.empty() && spec.outputs.size() % count == 0;
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel `", kernel.symbol(), "`: expected ", it.shared, " inputs and operands of ", count,
                     " tensors, got ", spec.inputs.size(), " inputs and ", spec.outputs.size(), " outputs"));
  }
  it.inputs = (spec.inputs.size() - it.shared) / count;
  it.outputs = spec.outputs.size() / count;
  for (size_t segment = 0; segment < count; ++segment) {
    it.elements.push_back(spec.outputs[segment * it.outputs].elements());
    const auto check = [&](const TensorSpec& operand) {
      return operand.elements() == it.elements.back()
                 ? absl::OkStatus()
                 : absl::InvalidArgumentError(absl::StrCat("kernel `", kernel.symbol(), "`: tensor ", segment,
                                                           ": expected ", it.elements.back(), " elements, got ",
                                                           operand.ToString()));
    };
    for (size_t i = 0; i < it.inputs; ++i) {
      WEFT_RETURN_IF_ERROR(check(spec.inputs[it.shared + segment * it.inputs + i]));
    }
    for (size_t i = 0; i < it.outputs; ++i) WEFT_RETURN_IF_ERROR(check(spec.outputs[segment * it.outputs + i]));
  }
  return it;
}

absl::StatusOr<std::shared_ptr<const Code>> Load(const plan::Code& code) {
  if (code.target() == kHostTarget) return HostCode::Load(code);
  if (code.target() == kGpuTarget) return GpuCode::Load(code);
  return absl::InvalidArgumentError(absl::StrCat("generated kernels: expected code for `", kHostTarget, "` or `",
                                                 kGpuTarget, "`, got code for `", code.target(),
                                                 "`: compile the job again, with this version of weft"));
}

}  // namespace weft::code
