// What each act of a plan costs, by the cost model of runtime/plan/cost.h.
#ifndef WEFT_RUNTIME_SIM_COSTS_H_
#define WEFT_RUNTIME_SIM_COSTS_H_

#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/program.h"

namespace weft::sim {

// One act of an actor.
struct ActCost {
  double seconds = 0;
  double sent_bytes = 0;  // that the rank which sends most sends to others
};

// By stage and actor. All acts of an actor cost the same.
using Costs = std::vector<std::vector<ActCost>>;

// What one run of a kernel is to the cost model.
plan::KernelWork WorkOf(const plan::Kernel& kernel);

// By actor and kernel, with its launch: the mean of its acts, which may find their operands nearer or farther (far.h).
std::vector<std::vector<double>> KernelSecondsOf(const plan::Program& program, const plan::Machine& machine);

// Kernels by their FLOPs and bytes, one after another; a collective by its
// largest group; a transfer by the rank that sends or receives most. Of
// validated programs, all stages of a plan.
Costs CostsOf(absl::Span<const plan::Program> programs, const plan::Machine& machine);

// In units, to compare schedules with their formulas: on compute streams the
// forward of a chunk for one micro-batch takes 1 and its backward 2, or 1 and 1
// for its weight part in a plan that has such parts. The unit's first act takes
// it all. Everything else takes no time.
Costs UnitCostsOf(absl::Span<const plan::Program> programs);

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_COSTS_H_
