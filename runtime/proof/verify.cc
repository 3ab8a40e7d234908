#include "runtime/proof/verify.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/measure/largest.h"
#include "runtime/measure/lives.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate.h"
#include "runtime/plan/validate_parts.h"
#include "runtime/proof/cell_detector.h"
#include "runtime/proof/evaluation.h"
#include "runtime/proof/race_detector.h"
#include "runtime/semantics/execution.h"
#include "runtime/semantics/orders.h"

namespace weft::plan {
namespace {

// Finds collectives of a stage that ranks might issue in different orders: two
// groups with a common axis of more than one rank, on two streams, unordered.
class CollectiveOrder {
 public:
  explicit CollectiveOrder(const Program& program)
      : program_(program), axes_(program.stage->actors_size()), last_(program.placement->axes_size()) {
    for (size_t a = 0; a < axes_.size(); ++a) {
      const Actor& actor = program.actor(static_cast<int32_t>(a));
      if (actor.collectives_size() == 0) continue;
      for (int32_t axis : actor.collectives(0).axes()) {
        if (program.placement->axes(axis).size() > 1) axes_[a].push_back(axis);
      }
    }
  }

  absl::Status Issue(const Act& act) {
    for (int32_t axis : axes_[act.actor]) {
      bool fresh = true;
      for (Issued& earlier : last_[axis]) {
        if (earlier.stream == act.stream) {
          earlier = {act.stream, act.position, act.actor, act.micro_batch};
          fresh = false;
        } else if (!act.After(earlier.stream, earlier.position)) {
          return Unordered(earlier, act, axis);
        }
      }
      if (fresh) last_[axis].push_back({act.stream, act.position, act.actor, act.micro_batch});
    }
    return absl::OkStatus();
  }

 private:
  // The last collective over an axis on a stream.
  struct Issued {
    int32_t stream = 0, position = 0, actor = 0;
    int64_t micro_batch = 0;
  };

  std::string Text(int32_t actor, int64_t micro_batch) const {
    const Actor& issuer = program_.actor(actor);
    return absl::StrCat(BundleText(issuer), " over (", AxesText(*program_.placement, issuer.collectives(0)), ") of ",
                        ActText(issuer, micro_batch), " on stream `", program_.stage->streams(issuer.stream()).name(),
                        "`");
  }

  absl::Status Unordered(const Issued& earlier, const Act& act, int32_t axis) const {
    const std::string& name = program_.placement->axes(axis).name();
    return InvalidPlan("collectives of overlapping groups in an order that may differ between ranks: ",
                       Text(earlier.actor, earlier.micro_batch), " and ", Text(act.actor, act.micro_batch),
                       " share axis ", name.empty() ? absl::StrCat(axis) : name, ", and nothing orders them");
  }

  const Program& program_;
  std::vector<absl::InlinedVector<int32_t, 2>> axes_;  // an actor each: of its collectives, of more than one rank
  std::vector<std::vector<Issued>> last_;              // a mesh axis each, then a stream each
};

absl::Status CheckDevice(const Plan& plan, const Program& program, int64_t device_bytes) {
  const int64_t needed = program.stage->arena_bytes();
  if (device_bytes <= 0 || needed <= device_bytes) return absl::OkStatus();
  // A plan that is blocked as well is not measured.
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  return absl::ResourceExhaustedError(absl::StrCat("stage ", program.index, ": memory of a rank: expected at most ",
                                                   CountText(device_bytes), " bytes (", BytesText(device_bytes),
                                                   "), got ", CountText(needed), " (", BytesText(needed), ")",
                                                   memory.ok() ? PeakText(program, (*memory)[program.index], 10) : ""));
}

// The cluster says how much a rank has of each tier.
absl::Status CheckTierBytes(const Plan& plan, const Program& program) {
  const std::optional<int> full = FullTier(plan.header().cluster(), *program.stage);
  if (!full) return absl::OkStatus();
  const Tier& tier = plan.header().cluster().tier(*full);
  const int64_t needed = program.stage->tier_bytes(*full);
  return absl::ResourceExhaustedError(absl::StrCat("stage ", program.index, ": tier `", tier.name(),
                                                   "` of a rank: expected at most ", CountText(tier.memory_bytes()),
                                                   " bytes (", BytesText(tier.memory_bytes()), "), got ",
                                                   CountText(needed), " (", BytesText(needed), ")"));
}

std::string StageName(size_t s) { return absl::StrCat("stage ", s); }

// Finds the fault of a plan; a plan without one passes.
absl::Status Examine(const std::vector<Program>& programs) {
  std::vector<RaceDetector> detectors(programs.begin(), programs.end());
  std::vector<CollectiveOrder> orders(programs.begin(), programs.end());
  for (size_t s = 0; s < programs.size(); ++s) {
    if (absl::Status status = CheckState(programs[s]); !status.ok()) return Under(StageName(s), status);
  }
  // A blocked plan is told from one with wrong bytes by executing it to the end:
  // the first fault is kept, and the blocked act goes before it as its cause.
  absl::Status fault;
  absl::Status status = Execute(programs, [&](const Act& act) {
    if (!fault.ok()) return absl::OkStatus();
    fault = orders[act.stage].Issue(act);
    if (fault.ok()) fault = detectors[act.stage].Perform(act);
    if (!fault.ok()) fault = Under(StageName(act.stage), fault);
    return absl::OkStatus();
  });
  if (status.ok()) status = fault;
  for (size_t s = 0; s < detectors.size() && status.ok(); ++s)
    status = Under(StageName(s), detectors[s].CheckMetrics());
  return status;
}

// One execution decides for all, and says in which orders the acts of a stage may
// come. Examine() says what is wrong with a plan that does not pass.
class Proof {
 public:
  explicit Proof(const std::vector<Program>& programs)
      : programs_(programs), orders_(programs.begin(), programs.end()), cells_(programs.begin(), programs.end()) {}

  absl::Status Run(bool measure) {
    for (const Program& program : programs_) {
      if (measure) measured_.emplace_back(program);
    }
    absl::Status status = Execute(programs_, [&](const Act& act) { return Visit(act); });
    if (status.ok() && !KeepsMetricsAndState()) status = absl::UnknownError("not proved");
    if (!status.ok()) status = Examine(programs_);
    for (size_t s = 0; s < measured_.size() && status.ok(); ++s) bounds_.push_back(LowerBoundOf(s));
    return status;
  }

  // A stage each, if measured.
  const std::vector<int64_t>& lower_bounds() const { return bounds_; }

 private:
  absl::Status Visit(const Act& act) {
    if (!measured_.empty()) measured_[act.stage].Add(act);
    if (!proved_) return absl::OkStatus();
    proved_ = orders_[act.stage].Issue(act).ok() && cells_[act.stage].Perform(act);
    return absl::OkStatus();
  }

  bool KeepsMetricsAndState() const {
    const auto keeps = [](const CellDetector& cells) { return cells.KeepsMetrics(); };
    const auto apart = [](const Program& program) { return CheckState(program).ok(); };
    return proved_ && std::all_of(cells_.begin(), cells_.end(), keeps) &&
           std::all_of(programs_.begin(), programs_.end(), apart);
  }

  int64_t LowerBoundOf(size_t s) {
    Lives lives(programs_[s]);
    int64_t bound = 0;
    for (Orders::Rule rule : measured_[s].rules()) {
      bound = std::max(bound, lives.LowerBound(measured_[s].In(rule)));
    }
    return bound;
  }

  const std::vector<Program>& programs_;
  std::vector<CollectiveOrder> orders_;
  std::vector<CellDetector> cells_;
  std::vector<Orders> measured_;  // a stage each, if measured
  bool proved_ = true;
  std::vector<int64_t> bounds_;
};

// What a stage says of its memory is what its schedule needs.
absl::Status CheckLowerBounds(const Plan& plan, const std::vector<int64_t>& expected) {
  for (int s = 0; s < plan.stages_size(); ++s) {
    const int64_t said = plan.stages(s).lower_bound_bytes();
    if (said == 0 || said == expected[s]) continue;
    return InvalidPlan("stage ", s, ": lower bound of the memory: expected ", expected[s], " bytes, got ", said);
  }
  return absl::OkStatus();
}

absl::Status VerifyAlone(const Plan& plan, const VerifyOptions& options) {
  std::vector<Program> programs;
  if (absl::Status status = Validate(plan, &programs); !status.ok()) return status;
  for (const Program& program : programs) {
    if (absl::Status status = CheckDevice(plan, program, options.device_bytes); !status.ok()) return status;
    if (absl::Status status = CheckTierBytes(plan, program); !status.ok()) return status;
  }
  const auto says = [](const Stage& stage) { return stage.lower_bound_bytes() != 0; };
  const bool measure = std::any_of(plan.stages().begin(), plan.stages().end(), says);
  Proof proof(programs);
  absl::Status status = proof.Run(measure);
  if (status.ok() && measure) status = CheckLowerBounds(plan, proof.lower_bounds());
  if (status.code() != absl::StatusCode::kInvalidArgument) return status;
  return absl::FailedPreconditionError(status.message());
}

}  // namespace

absl::Status Verify(const Plan& plan, const VerifyOptions& options) {
  if (absl::Status status = VerifyAlone(plan, options); !status.ok() || !plan.has_evaluation()) return status;
  const absl::Status evaluation = VerifyAlone(plan.evaluation(), options);
  return Under("evaluation", evaluation.ok() ? CheckEvaluation(plan) : evaluation);
}

}  // namespace weft::plan
