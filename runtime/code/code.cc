#include "runtime/code/code.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"
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

absl::StatusOr<std::shared_ptr<const Code>> Load(const plan::Code& code) {
  if (code.target() == kHostTarget) return HostCode::Load(code);
  if (code.target() == kGpuTarget) return GpuCode::Load(code);
  return absl::InvalidArgumentError(absl::StrCat("generated kernels: expected code for `", kHostTarget, "` or `",
                                                 kGpuTarget, "`, got code for `", code.target(),
                                                 "`: compile the job again, with this version of weft"));
}

}  // namespace weft::code
