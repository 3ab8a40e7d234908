#include "ops/abi/dropout_mask.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"
#include "ops/abi/step_values.h"
#include "ops/abi/tile_runs.h"

namespace weft {

absl::StatusOr<DropoutMaskSource> DropoutMaskSource::Create(const KernelSpec& spec, const TensorSpec& x) {
  WEFT_ASSIGN_OR_RETURN(double rate, spec.attributes.Float("rate"));
  if (!(rate >= 0 && rate < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `rate`: expected 0 or more and less than 1, got ", rate));
  }
  WEFT_ASSIGN_OR_RETURN(int64_t seed, spec.attributes.Int("seed"));
  WEFT_ASSIGN_OR_RETURN(GpuTile tile, GpuTileOf(x));
  WEFT_ASSIGN_OR_RETURN(const double* step, AddStepNumber(spec));
  DropoutMaskSource source;
  source.mask_ = {.tile = tile,
                  .step = step,
                  .threshold = static_cast<int32_t>(std::ceil(std::ldexp(rate, 24))),
                  .scale = static_cast<float>(1 / (1 - rate))};
  source.seed_ = static_cast<uint64_t>(seed);
  source.elements_ = TileRuns(x).global_elements();
  return source;
}

DropoutMask DropoutMaskSource::MaskFor(const RunContext& context) const {
  DropoutMask mask = mask_;
  mask.first = static_cast<uint64_t>(context.micro_batch * elements_);
  mask.key = MixSeed(context.seed, seed_);
  return mask;
}

}  // namespace weft
