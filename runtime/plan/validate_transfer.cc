#include <algorithm>

#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

// The actors at both ends of a transfer.
struct Ends {
  std::vector<const Actor*> senders;
  std::vector<const Actor*> receivers;
};

std::vector<Ends> EndsOf(const std::vector<Program>& programs) {
  std::vector<Ends> ends(programs[0].plan->transfers_size());
  for (const Program& program : programs) {
    for (const Actor& actor : program.stage->actors()) {
      if (actor.end_case() == Actor::kSend) ends[actor.send()].senders.push_back(&actor);
      if (actor.end_case() == Actor::kReceive) ends[actor.receive()].receivers.push_back(&actor);
    }
  }
  return ends;
}

absl::Status CheckEnds(const Ends& ends) {
  if (ends.senders.size() > 1 || ends.receivers.size() > 1) {
    return InvalidPlan("expected one sender and one receiver, got ", ends.senders.size(), " and ",
                       ends.receivers.size());
  }
  if (ends.senders.empty() && ends.receivers.empty())
    return InvalidPlan("expected one sender and one receiver, got none");
  if (ends.receivers.empty())
    return InvalidPlan("unmatched send: no actor receives what `", ends.senders[0]->name(), "` sends");
  if (ends.senders.empty()) {
    return InvalidPlan("unmatched receive: no actor sends what `", ends.receivers[0]->name(), "` receives");
  }
  if (ends.senders[0]->section() != ends.receivers[0]->section()) {
    return InvalidPlan("unmatched send: expected both ends once a micro-batch or both once a step, got `",
                       ends.senders[0]->name(), "` and `", ends.receivers[0]->name(), "`");
  }
  return absl::OkStatus();
}

absl::Status CheckBuffers(const Program& from, const Buffer& source, const Program& to, const Buffer& target) {
  if (from.index == to.index) return InvalidPlan("expected two stages, got stage ", from.index, " twice");
  if (source.dtype() != target.dtype() ||
      !std::equal(source.shape().begin(), source.shape().end(), target.shape().begin(), target.shape().end())) {
    return InvalidPlan("target `", target.name(), "`: expected ", TypeText(source), " as the source, got ",
                       TypeText(target));
  }
  for (const auto& [program, buffer] : {std::pair(&from, &source), std::pair(&to, &target)}) {
    for (const Sbp& sbp : buffer->sbp()) {
      if (sbp.kind() == Sbp::BROADCAST || sbp.kind() == Sbp::SPLIT) continue;
      return InvalidPlan(buffer == &source ? "source `" : "target `", buffer->name(),
                         "`: expected S or B on every axis, got ", SbpText(*program->placement, *buffer));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTransfers(const std::vector<Program>& programs) {
  const Plan& plan = *programs[0].plan;
  const std::vector<Ends> ends = EndsOf(programs);
  for (int t = 0; t < plan.transfers_size(); ++t) {
    const Transfer& transfer = plan.transfers(t);
    const Program& from = programs[transfer.source_stage()];
    const Program& to = programs[transfer.target_stage()];
    absl::Status status = CheckEnds(ends[t]);
    if (status.ok())
      status = CheckBuffers(from, from.buffer(transfer.source_buffer()), to, to.buffer(transfer.target_buffer()));
    if (!status.ok()) return Under(absl::StrCat("transfer ", t), status);
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
