// How far the operands of kernels are: what a rank goes through between two uses of the same memory.
#ifndef WEFT_RUNTIME_SIM_FAR_H_
#define WEFT_RUNTIME_SIM_FAR_H_

#include <vector>

#include "runtime/plan/cost.h"
#include "runtime/plan/program.h"

namespace weft::sim {

// By actor and kernel, the mean of its acts: 0 where it last touched its operands, or something else did at their place
// in the arena, less than `near_bytes` of the machine ago, 1 where that was `far_bytes` ago. What it goes through is
// what was not near itself, as in a cache that drops what was used longest ago. All 0 if the machine has no rates for
// what is far.
std::vector<std::vector<double>> FarShares(const plan::Program& program, const plan::Machine& machine);

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_FAR_H_
