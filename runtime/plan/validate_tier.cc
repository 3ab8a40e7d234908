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
  if (program.root[fetches ? from : to] != (fetches ? from : to)) {
    return InvalidPlan("expected a buffer of a tier with bytes of its own, got the view `",
                       program.buffer(fetches ? from : to).name(), "`");
  }
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

// Why the host cannot do an actor's work in a tier; empty: it can.
std::string WhyNotHost(const Program& program, const Actor& actor, int32_t tier) {
  const Tier& where = program.plan->header().cluster().tier(tier - 1);
  if (where.kind() != Tier::HOST)
    return absl::StrCat("no kernel runs in tier `", where.name(), "` of kind ", Tier::Kind_Name(where.kind()));
  if (actor.kernels_size() == 0 || HasPort(actor)) return "only kernels run in a tier";
  if (actor.section() == Actor::MICRO) return "only what runs once a step does so in a tier";
  return program.stage->streams(actor.stream()).kind() == Stream::HOST ? "" : "its stream is not one of the host";
}

absl::Status CheckWork(const Program& program, int32_t a, int w) {
  const Actor& actor = program.actor(a);
  if (w < actor.kernels_size() && MovesTier(actor.kernels(w))) return CheckMove(program, actor.kernels(w));
  const int32_t tier = TierOfWork(program, a);
  const std::string why = tier == 0 ? "" : WhyNotHost(program, actor, tier);
  const int32_t expected = why.empty() ? tier : 0;
  for (const auto* touched : {&program.work[a][w].reads, &program.work[a][w].writes}) {
    for (int32_t b : *touched) {
      const int32_t got = program.buffer(program.root[b]).tier();
      if (got == expected) continue;
      const auto where = [](int32_t t) { return t == 0 ? "the device" : "a tier"; };
      return InvalidPlan("buffer `", program.buffer(b).name(), "`: expected one of ", where(expected), ", got one of ",
                         where(got), why.empty() ? "" : ": ", why);
    }
  }
  return absl::OkStatus();
}

// State in a tier begins with what the host makes that updates it, or with what the device makes, in a place that a
// copy says.
absl::Status CheckState(const Program& program, const std::vector<bool>& moved) {
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    const Buffer& buffer = program.buffer(b);
    if (program.on_device[b] || !buffer.has_init() || buffer.alias_of() != 0 || moved[b]) continue;
    return InvalidPlan("buffer `", buffer.name(),
                       "`: expected a copy between the tier and the device, or a kernel of the host, got none");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTiers(const Program& program) {
  std::vector<bool> moved(program.stage->buffers_size(), false);
  const google::protobuf::RepeatedField<int32_t> none;
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    for (size_t w = 0; w < program.work[a].size(); ++w) {
      const absl::Status status = CheckWork(program, a, static_cast<int>(w));
      if (!status.ok()) return Under(program.Where(a, static_cast<int>(w)), status);
    }
    for (const Kernel& kernel : program.actor(a).kernels()) {
      if (MovesTier(kernel)) moved[BelowOf(kernel)] = true;
      for (int32_t b : TierOfWork(program, a) > 0 ? kernel.outputs() : none) moved[program.root[b]] = true;
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
