// What a choice comes to, by the profile of its stage: seconds of a step and bytes of a rank.
#ifndef WEFT_COMPILER_AUTO_ESTIMATE_H_
#define WEFT_COMPILER_AUTO_ESTIMATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/auto/choice.h"
#include "compiler/auto/profile.h"
#include "compiler/auto/schedules.h"
#include "runtime/plan/cost.h"

namespace weft::compiler {

struct Estimate {
  double step_s = 0;
  double bytes = 0; // of the rank that needs most
};

/// Of a choice, by the profile of the whole model on the mesh of one of its stages, with its micro-batch, and with
/// split backwards if its schedule splits them. Stages are cut such that the slowest takes least (schedule/balance.h);
/// their schedule is timed unit by unit, with the time that a micro-batch takes from stage to stage. InvalidArgument:
/// no such schedule, or fewer pieces than chunks.
absl::StatusOr<Estimate> estimate(const Choice &choice, int64_t microBatches, const Profile &profile,
                                  const plan::Machine &machine, Schedules &schedules);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_ESTIMATE_H_
