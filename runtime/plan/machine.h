// The machine that a plan was made for.
#ifndef WEFT_RUNTIME_PLAN_MACHINE_H_
#define WEFT_RUNTIME_PLAN_MACHINE_H_

#include "runtime/plan/cluster.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// By the rates of its cluster; a plan without one, as a hand-written one may be, has the standard machine.
inline Machine MachineOf(const Plan& plan) {
  return plan.header().has_cluster() ? MachineOf(plan.header().cluster()) : Machine();
}

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_MACHINE_H_
