// The parts of the family's registration.
#ifndef WEFT_OPS_OPTIMIZER_CPU_INTERNAL_H_
#define WEFT_OPS_OPTIMIZER_CPU_INTERNAL_H_

#include "ops/abi/registry.h"

namespace weft::optimizer {

void RegisterScalars(KernelRegistry& registry);
void RegisterAccumulate(KernelRegistry& registry);

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_CPU_INTERNAL_H_
