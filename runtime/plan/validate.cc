#include "runtime/plan/validate.h"

#include <cmath>
#include <map>
#include <set>

#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

// What can be checked of a stage without looking across its actors.
absl::Status CheckStage(const Plan& plan, int s) {
  const Stage& stage = plan.stages(s);
  if (absl::Status status = CheckBuffers(plan, stage); !status.ok()) return status;
  if (absl::Status status = CheckActors(plan, s); !status.ok()) return status;
  if (absl::Status status = CheckStreams(plan, stage); !status.ok()) return status;
  if (stage.lower_bound_bytes() < 0 || stage.lower_bound_bytes() > stage.arena_bytes()) {
    return InvalidPlan("lower bound of the memory: expected 0 to arena_bytes = ", stage.arena_bytes(), ", got ",
                       stage.lower_bound_bytes());
  }
  if (!(stage.predicted_compute_s() >= 0) || std::isinf(stage.predicted_compute_s())) {
    return InvalidPlan("predicted seconds: expected a number of 0 or more, got ", stage.predicted_compute_s());
  }
  return absl::OkStatus();
}

absl::Status CheckPlacements(const Plan& plan) {
  for (int p = 0; p < plan.placements_size(); ++p) {
    absl::Status status = Under(absl::StrCat("placement ", p), CheckPlacement(plan.placements(p)));
    if (!status.ok()) return status;
  }
  if (plan.stages_size() == 0) return InvalidPlan("stages: expected at least 1, got 0");
  std::map<int32_t, int> stage_of;
  for (int s = 0; s < plan.stages_size(); ++s) {
    const int32_t placement = plan.stages(s).placement();
    if (placement < 0 || placement >= plan.placements_size()) {
      return InvalidPlan("stage ", s, ": placement: expected an index below ", plan.placements_size(), ", got ",
                         placement);
    }
    for (int32_t rank : plan.placements(placement).ranks()) {
      const auto [at, fresh] = stage_of.emplace(rank, s);
      if (!fresh) return InvalidPlan("rank ", rank, ": expected one stage, got stages ", at->second, " and ", s);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMetric(const Plan& plan, const Metric& metric) {
  if (metric.stage() < 0 || metric.stage() >= plan.stages_size()) {
    return InvalidPlan("stage: expected an index below ", plan.stages_size(), ", got ", metric.stage());
  }
  const Stage& stage = plan.stages(metric.stage());
  if (metric.buffer() < 0 || metric.buffer() >= stage.buffers_size()) {
    return InvalidPlan("buffer: expected an index below ", stage.buffers_size(), ", got ", metric.buffer());
  }
  const Buffer& buffer = stage.buffers(metric.buffer());
  if (buffer.dtype() != F32 || buffer.shape_size() != 0) {
    return InvalidPlan("buffer `", buffer.name(), "`: expected a float32 scalar, got ", TypeText(buffer));
  }
  for (const Sbp& sbp : buffer.sbp()) {
    if (sbp.kind() != Sbp::BROADCAST) {
      return InvalidPlan("buffer `", buffer.name(), "`: expected the same value on every rank, got ",
                         SbpText(plan.placements(stage.placement()), buffer));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMetrics(const Plan& plan) {
  std::set<std::string> names;
  for (const Metric& metric : plan.metrics()) {
    if (metric.name().empty()) return InvalidPlan("metric: expected a name");
    if (!names.insert(metric.name()).second) return InvalidPlan("metric `", metric.name(), "`: listed twice");
    absl::Status status = Under(absl::StrCat("metric `", metric.name(), "`"), CheckMetric(plan, metric));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckPrediction(const Plan& plan) {
  const Prediction& prediction = plan.prediction();
  for (double value : {prediction.step_s(), prediction.compute_s(), prediction.communication_s(),
                       prediction.communication_bytes(), prediction.bubble_fraction(), prediction.exposed_comm_s()}) {
    if (!(value >= 0) || std::isinf(value))
      return InvalidPlan("prediction: expected numbers of 0 or more, got ", value);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const Plan& plan) {
  std::vector<Program> programs;
  return Validate(plan, &programs);
}

absl::Status Validate(const Plan& plan, std::vector<Program>* programs) {
  if (!plan.has_header()) return InvalidPlan("header: expected one, got none");
  if (absl::Status status = Under("header", CheckHeader(plan.header())); !status.ok()) return status;
  if (absl::Status status = CheckPlacements(plan); !status.ok()) return status;
  const auto stage_name = [](int s) { return absl::StrCat("stage ", s); };
  for (int s = 0; s < plan.stages_size(); ++s) {
    if (absl::Status status = Under(stage_name(s), CheckStage(plan, s)); !status.ok()) return status;
  }
  if (absl::Status status = CheckMetrics(plan); !status.ok()) return status;
  if (absl::Status status = CheckPrediction(plan); !status.ok()) return status;
  // Transfers name buffers of stages by index, and programs follow them.
  for (int t = 0; t < plan.transfers_size(); ++t) {
    const Transfer& transfer = plan.transfers(t);
    const auto fits = [&](int32_t stage, int32_t buffer) {
      return stage >= 0 && stage < plan.stages_size() && buffer >= 0 && buffer < plan.stages(stage).buffers_size();
    };
    if (!fits(transfer.source_stage(), transfer.source_buffer()) ||
        !fits(transfer.target_stage(), transfer.target_buffer())) {
      return InvalidPlan("transfer ", t, ": expected buffers of stages below ", plan.stages_size(), ", got buffer ",
                         transfer.source_buffer(), " of stage ", transfer.source_stage(), " and buffer ",
                         transfer.target_buffer(), " of stage ", transfer.target_stage());
    }
  }
  *programs = ProgramsOf(plan);
  for (const Program& program : *programs) {
    absl::Status status = CheckRegisters(program);
    if (status.ok()) status = CheckCollectives(program);
    if (status.ok()) status = CheckTiers(program);
    if (!status.ok()) return Under(stage_name(program.index), status);
  }
  return CheckTransfers(*programs);
}

}  // namespace weft::plan
