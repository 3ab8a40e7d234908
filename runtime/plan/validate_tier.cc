#include <algorithm>

#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

// What both sides of a copy have in common: the tile of a rank.
std::string TileText(const Program& program, int32_t b) {
  return absl::StrCat(TypeText(program.buffer(b)), " ", SbpText(*program.placement, program.buffer(b)));
}

absl::Status CheckMove(const Program& program, const Kernel& kernel) {
  if (kernel.inputs_size() != 1 || kernel.outputs_size() != 1) {
    return InvalidPlan("expected 1 input and 1 output, got ", kernel.inputs_size(), " and ", kernel.outputs_size());
  }
  const int32_t from = kernel.inputs(0), to = kernel.outputs(0);
  const bool fetches = kernel.name() == kFetch;
  if (program.on_device[from] == fetches || program.on_device[to] != fetches) {
    const auto where = [&](int32_t b) { return program.on_device[b] ? "the device" : "a tier"; };
    return InvalidPlan("expected a copy from ", fetches ? "a tier to the device" : "the device to a tier",
                       ", got one of `", program.buffer(from).name(), "` of ", where(from), " to `",
                       program.buffer(to).name(), "` of ", where(to));
  }
  const std::string expected = TileText(program, from), got = TileText(program, to);
  if (expected == got) return absl::OkStatus();
  return InvalidPlan("output `", program.buffer(to).name(), "`: expected ", expected, " as its input, got ", got);
}

// The first buffer of a tier among these; -1: none.
int32_t FirstInTier(const Program& program, const std::vector<int32_t>& buffers) {
  const auto it = std::find_if(buffers.begin(), buffers.end(), [&](int32_t b) { return !program.on_device[b]; });
  return it == buffers.end() ? -1 : *it;
}

absl::Status CheckWork(const Program& program, int32_t a, int w) {
  const Actor& actor = program.actor(a);
  if (w < actor.kernels_size() && MovesTier(actor.kernels(w))) return CheckMove(program, actor.kernels(w));
  for (const auto* touched : {&program.work[a][w].reads, &program.work[a][w].writes}) {
    const int32_t b = FirstInTier(program, *touched);
    if (b >= 0)
      return InvalidPlan("buffer `", program.buffer(b).name(), "`: expected one of the device, got one of a tier");
  }
  return absl::OkStatus();
}

// State in a tier begins with what the device makes, in a place that a copy says.
absl::Status CheckState(const Program& program, const std::vector<bool>& moved) {
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    const Buffer& buffer = program.buffer(b);
    if (program.on_device[b] || !buffer.has_init() || buffer.alias_of() != 0 || moved[b]) continue;
    return InvalidPlan("buffer `", buffer.name(), "`: expected a copy between the tier and the device, got none");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTiers(const Program& program) {
  std::vector<bool> moved(program.stage->buffers_size(), false);
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    for (size_t w = 0; w < program.work[a].size(); ++w) {
      const absl::Status status = CheckWork(program, a, static_cast<int>(w));
      if (!status.ok()) return Under(program.Where(a, static_cast<int>(w)), status);
    }
    for (const Kernel& kernel : program.actor(a).kernels()) {
      if (MovesTier(kernel)) moved[BelowOf(kernel)] = true;
    }
  }
  if (absl::Status status = CheckState(program, moved); !status.ok()) return status;
  for (const Metric& metric : program.plan->metrics()) {
    if (metric.stage() != program.index || program.on_device[metric.buffer()]) continue;
    return InvalidPlan("metric `", metric.name(), "`: expected a buffer of the device, got one of a tier");
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
