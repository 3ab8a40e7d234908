#include "runtime/plan/verify.h"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/plan/arena.h"
#include "runtime/plan/execution.h"
#include "runtime/plan/memory.h"
#include "runtime/plan/names.h"
#include "runtime/plan/validate.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

// Finds collectives of a stage that ranks might issue in different orders: two
// groups with a common axis of more than one rank, on two streams, unordered.
class CollectiveOrder {
 public:
  explicit CollectiveOrder(const Program& program) : program_(program), last_(program.placement->axes_size()) {}

  absl::Status Issue(const Act& act) {
    const Actor& actor = program_.actor(act.actor);
    for (int32_t axis : actor.collectives(0).axes()) {
      if (program_.placement->axes(axis).size() == 1) continue;
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
    const Actor& it = program_.actor(actor);
    return absl::StrCat(BundleText(it), " over (", AxesText(*program_.placement, it.collectives(0)), ") of ",
                        ActText(it, micro_batch), " on stream `", program_.stage->streams(it.stream()).name(), "`");
  }

  absl::Status Unordered(const Issued& earlier, const Act& act, int32_t axis) const {
    const std::string& name = program_.placement->axes(axis).name();
    return Fault("collectives of overlapping groups in an order that may differ between ranks: ",
                 Text(earlier.actor, earlier.micro_batch), " and ", Text(act.actor, act.micro_batch), " share axis ",
                 name.empty() ? absl::StrCat(axis) : name, ", and nothing orders them");
  }

  const Program& program_;
  std::vector<std::vector<Issued>> last_;  // a mesh axis each, then a stream each
};

absl::Status CheckDevice(const Plan& plan, const Program& program, int64_t device_bytes) {
  const int64_t needed = program.stage->arena_bytes();
  if (device_bytes <= 0 || needed <= device_bytes) return absl::OkStatus();
  // A plan that is blocked as well is not measured.
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  return absl::ResourceExhaustedError(absl::StrCat(
      "stage ", program.index, ": memory of a rank: expected at most ", CountText(device_bytes), " bytes (",
      BytesText(device_bytes), "), got ", CountText(needed), " (", BytesText(needed), ")",
      memory.ok() ? "; the largest tensors at the peak: " + LargestText(program, (*memory)[program.index], 10) : ""));
}

absl::Status Prove(const std::vector<Program>& programs) {
  std::vector<Arena> arenas;
  std::vector<CollectiveOrder> orders;
  arenas.reserve(programs.size());
  for (const Program& program : programs) {
    arenas.emplace_back(program);
    orders.emplace_back(program);
  }
  const auto stage_name = [](int s) { return absl::StrCat("stage ", s); };
  for (size_t s = 0; s < arenas.size(); ++s) {
    if (absl::Status status = arenas[s].CheckState(); !status.ok()) return Under(stage_name(s), status);
  }
  // A blocked plan is told from one with wrong bytes by executing it to the end:
  // the first fault is kept, and the blocked act goes before it as its cause.
  absl::Status fault;
  absl::Status status = Execute(programs, [&](const Act& act) {
    if (!fault.ok()) return absl::OkStatus();
    if (programs[act.stage].actor(act.actor).collectives_size() > 0) fault = orders[act.stage].Issue(act);
    if (fault.ok()) fault = arenas[act.stage].Perform(act);
    if (!fault.ok()) fault = Under(stage_name(act.stage), fault);
    return absl::OkStatus();
  });
  if (status.ok()) status = fault;
  for (size_t s = 0; s < arenas.size() && status.ok(); ++s) status = Under(stage_name(s), arenas[s].CheckMetrics());
  return status;
}

// What a stage says of its memory is what its schedule needs.
absl::Status CheckLowerBounds(const Plan& plan) {
  const auto says = [](const Stage& stage) { return stage.lower_bound_bytes() != 0; };
  if (std::none_of(plan.stages().begin(), plan.stages().end(), says)) return absl::OkStatus();
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  if (!memory.ok()) return memory.status();
  for (int s = 0; s < plan.stages_size(); ++s) {
    const int64_t expected = (*memory)[s].lower_bound_bytes;
    if (!says(plan.stages(s)) || plan.stages(s).lower_bound_bytes() == expected) continue;
    return Fault("stage ", s, ": lower bound of the memory: expected ", expected, " bytes, got ",
                 plan.stages(s).lower_bound_bytes());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Verify(const Plan& plan, const VerifyOptions& options) {
  if (absl::Status status = Validate(plan); !status.ok()) return status;
  const std::vector<Program> programs = ProgramsOf(plan);
  for (const Program& program : programs) {
    if (absl::Status status = CheckDevice(plan, program, options.device_bytes); !status.ok()) return status;
  }
  absl::Status status = Prove(programs);
  if (status.ok()) status = CheckLowerBounds(plan);
  if (status.code() != absl::StatusCode::kInvalidArgument) return status;
  return absl::FailedPreconditionError(status.message());
}

}  // namespace weft::plan
