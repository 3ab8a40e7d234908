// A step in virtual time, as a discrete-event simulation: the actors, conditions and credits of the runtime, with a
// clock that jumps from the end of one act to the end of the next.
#ifndef WEFT_RUNTIME_SIM_CLOCK_H_
#define WEFT_RUNTIME_SIM_CLOCK_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/program.h"
#include "runtime/sim/costs.h"

namespace weft::sim {

// One act that happened. Times count from the beginning of the step.
struct TimedAct {
  int32_t stage = 0;
  int32_t actor = 0;
  int64_t micro_batch = 0;  // 0 for actors that fire once a step
  double begin_s = 0;       // everything that it waits for is there, and its peer is too
  double end_s = 0;
  // The act whose end let this one begin, an index into the list; -1: the step's
  // beginning. The one before it on its stream, one that filled or emptied a
  // register, or what the other end of its transfer waited for.
  int32_t cause = -1;
};

// Runs one step of validated programs, all stages of a plan, one rank each: all
// ranks of a stage run the same program and meet in its collectives, and so do
// the same at the same time. An act begins when the runtime would let it
// (actor::Unmet); the two ends of a transfer begin together. The acts are in the
// order of their ends. `costs` are those of acts that nothing disturbs; where the
// ranks of a node share cores, acts side by side take longer. kFailedPrecondition for a
// plan that blocks, with the cycle.
absl::StatusOr<std::vector<TimedAct>> RunStep(absl::Span<const plan::Program> programs, const Costs& costs,
                                              const plan::Machine& machine);

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_CLOCK_H_
