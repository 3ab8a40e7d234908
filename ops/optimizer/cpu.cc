#include "ops/optimizer/cpu.h"

#include "ops/optimizer/cpu_internal.h"

namespace weft {

void RegisterOptimizerKernels(KernelRegistry& registry) {
  optimizer::RegisterScalars(registry);
  optimizer::RegisterUpdates(registry);
}

}  // namespace weft
