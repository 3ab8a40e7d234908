#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

using Indices = google::protobuf::RepeatedField<int32_t>;

absl::Status CheckIndices(const char* what, const Indices& indices, int count) {
  for (int32_t b : indices) {
    if (b < 0 || b >= count) return InvalidPlan(what, ": expected buffers below ", count, ", got ", b);
  }
  return absl::OkStatus();
}

// The lists are a few entries long, or as long as the stage has registers.
bool Repeats(const Indices& indices) {
  std::vector<int32_t> sorted(indices.begin(), indices.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

// `input` and `output` are the runtime's own kernels.
absl::Status CheckPort(const Kernel& kernel, int inputs, int outputs) {
  if (kernel.inputs_size() != inputs || kernel.outputs_size() != outputs) {
    return InvalidPlan("expected ", inputs, " inputs and ", outputs, " outputs, got ", kernel.inputs_size(), " and ",
                       kernel.outputs_size());
  }
  const auto name = kernel.attributes().find("name");
  if (name == kernel.attributes().end() || name->second.value_case() != Attribute::kString) {
    return InvalidPlan("attribute `name`: expected a string");
  }
  return absl::OkStatus();
}

absl::Status CheckCost(const KernelCost& cost) {
  for (double part : {cost.contraction_flops(), cost.flops(), cost.bytes()}) {
    if (!(part >= 0) || std::isinf(part)) return InvalidPlan("cost: expected numbers of 0 or more, got ", part);
  }
  if (cost.has_product()) {
    for (int64_t size : {cost.product().batch(), cost.product().m(), cost.product().n(), cost.product().k()}) {
      if (size < 1) return InvalidPlan("cost: product: expected sizes of 1 or more, got ", size);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckKernel(const Kernel& kernel, const Code& code, int buffers) {
  if (kernel.name().empty()) return InvalidPlan("expected a name");
  if (absl::Status status = CheckIndices("inputs", kernel.inputs(), buffers); !status.ok()) return status;
  if (absl::Status status = CheckIndices("outputs", kernel.outputs(), buffers); !status.ok()) return status;
  if (Repeats(kernel.outputs())) return InvalidPlan("outputs: expected each buffer once");
  if (absl::Status status = CheckCost(kernel.cost()); !status.ok()) return status;
  if (kernel.name() == "input") return CheckPort(kernel, 0, 1);
  if (kernel.name() == "output") return CheckPort(kernel, 1, 0);
  if (kernel.outputs_size() == 0) return InvalidPlan("outputs: expected at least 1, got 0");
  if (!kernel.symbol().empty()) {
    const auto& symbols = code.symbols();
    if (std::find(symbols.begin(), symbols.end(), kernel.symbol()) == symbols.end()) {
      return InvalidPlan("symbol: expected one of the plan's ", symbols.size(), " generated kernels, got `",
                         kernel.symbol(), "`");
    }
    if (kernel.units() < 1) return InvalidPlan("units: expected 1 or more, got ", kernel.units());
    if (kernel.partials() < 0 || kernel.groups() < 0 || (kernel.partials() > 0) != (kernel.groups() > 0)) {
      return InvalidPlan("partials and groups: expected numbers above 0, or 0 both, got ", kernel.partials(), " and ",
                         kernel.groups());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCollective(const Collective& collective, const Placement& placement, int buffers) {
  for (int32_t b : {collective.input(), collective.output()}) {
    if (b < 0 || b >= buffers) return InvalidPlan("expected buffers below ", buffers, ", got ", b);
  }
  if (!Collective::Kind_IsValid(collective.kind())) {
    return InvalidPlan("expected a kind of 0 to ", Collective::Kind_MAX, ", got ", static_cast<int>(collective.kind()));
  }
  if (!Collective::Reduction_IsValid(collective.reduction())) {
    return InvalidPlan("expected a reduction of 0 or 1, got ", static_cast<int>(collective.reduction()));
  }
  if (collective.axes_size() == 0) return InvalidPlan("expected mesh axes, got none");
  int32_t last = -1;
  for (int32_t axis : collective.axes()) {
    if (axis <= last || axis >= placement.axes_size()) {
      return InvalidPlan("expected ascending mesh axes below ", placement.axes_size(), ", got ", axis, " after ", last);
    }
    last = axis;
  }
  return absl::OkStatus();
}

// Collectives in range, and of one group.
absl::Status CheckBundle(const Actor& actor, const Placement& placement, int buffers) {
  const Collective& first = actor.collectives(0);
  for (int i = 0; i < actor.collectives_size(); ++i) {
    const Collective& collective = actor.collectives(i);
    absl::Status status = CheckCollective(collective, placement, buffers);
    if (status.ok() &&
        !std::equal(collective.axes().begin(), collective.axes().end(), first.axes().begin(), first.axes().end())) {
      status = InvalidPlan("axes: expected (", AxesText(placement, first), ") as the first of the bundle, got (",
                           AxesText(placement, collective), ")");
    }
    const bool alone = actor.collectives_size() == 1;
    if (!status.ok()) return Under(alone ? "collective" : absl::StrCat("collective ", i), status);
  }
  return absl::OkStatus();
}

absl::Status CheckEnd(const Plan& plan, const Actor& actor, int stage) {
  const bool send = actor.end_case() == Actor::kSend;
  const int32_t index = send ? actor.send() : actor.receive();
  if (index < 0 || index >= plan.transfers_size()) {
    return InvalidPlan(send ? "send" : "receive", ": expected a transfer below ", plan.transfers_size(), ", got ",
                       index);
  }
  const Transfer& transfer = plan.transfers(index);
  const int32_t there = send ? transfer.source_stage() : transfer.target_stage();
  if (there != stage) {
    return InvalidPlan(send ? "send" : "receive", ": expected a transfer ", send ? "from" : "to",
                       " this stage, got transfer ", index, " ", send ? "from" : "to", " stage ", there);
  }
  return absl::OkStatus();
}

// Where the code of a generated kernel is: what touches a tier the host runs.
const Code& CodeOf(const Plan& plan, const Stage& stage, const Kernel& kernel) {
  const auto lies_below = [&](int32_t b) { return b >= 0 && b < stage.buffers_size() && stage.buffers(b).tier() != 0; };
  const bool below = std::any_of(kernel.inputs().begin(), kernel.inputs().end(), lies_below) ||
                     std::any_of(kernel.outputs().begin(), kernel.outputs().end(), lies_below);
  return below && !IsHost(plan.header().target()) ? plan.host_code() : plan.code();
}

absl::Status CheckActor(const Plan& plan, int s, const Actor& actor) {
  const Stage& stage = plan.stages(s);
  if (actor.stream() < 0 || actor.stream() >= stage.streams_size()) {
    return InvalidPlan("stream: expected an index below ", stage.streams_size(), ", got ", actor.stream());
  }
  if (!Actor::Section_IsValid(actor.section())) {
    return InvalidPlan("section: expected 0 or 1, got ", static_cast<int>(actor.section()));
  }
  if (!Actor::Phase_IsValid(actor.phase())) {
    return InvalidPlan("phase: expected 0 to ", Actor::Phase_MAX, ", got ", static_cast<int>(actor.phase()));
  }
  if (actor.chunk() < 0) return InvalidPlan("chunk: expected 0 or more, got ", actor.chunk());
  const bool end = actor.end_case() != Actor::END_NOT_SET;
  const int kinds = (actor.kernels_size() > 0) + (actor.collectives_size() > 0) + end;
  if (kinds != 1) return InvalidPlan("work: expected one of kernels, collectives, an end of a transfer; got ", kinds);
  if (absl::Status status = CheckIndices("reads", actor.reads(), stage.buffers_size()); !status.ok()) return status;
  if (absl::Status status = CheckIndices("writes", actor.writes(), stage.buffers_size()); !status.ok()) return status;
  if (Repeats(actor.reads())) return InvalidPlan("reads: expected each register once");
  if (Repeats(actor.writes())) return InvalidPlan("writes: expected each register once");
  for (int k = 0; k < actor.kernels_size(); ++k) {
    absl::Status status = CheckKernel(actor.kernels(k), CodeOf(plan, stage, actor.kernels(k)), stage.buffers_size());
    if (!status.ok()) return Under(absl::StrCat("kernel ", k, " `", actor.kernels(k).name(), "`"), status);
  }
  if (end) return CheckEnd(plan, actor, s);
  if (actor.collectives_size() == 0) return absl::OkStatus();
  return CheckBundle(actor, plan.placements(stage.placement()), stage.buffers_size());
}

}  // namespace

absl::Status CheckActors(const Plan& plan, int s) {
  const Stage& stage = plan.stages(s);
  absl::flat_hash_set<std::string> names;
  for (int a = 0; a < stage.actors_size(); ++a) {
    const Actor& actor = stage.actors(a);
    if (actor.name().empty()) return InvalidPlan("actor ", a, ": expected a name");
    if (!names.insert(actor.name()).second) return InvalidPlan("actor `", actor.name(), "`: two have this name");
    absl::Status status = CheckActor(plan, s, actor);
    if (!status.ok()) return Under(absl::StrCat("actor `", actor.name(), "`"), status);
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
