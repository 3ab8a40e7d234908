#include "ops/elementwise/cpu.h"

#include "ops/elementwise/cpu_internal.h"

namespace weft {

void RegisterElementwiseKernels(KernelRegistry& registry) {
  elementwise::RegisterUnary(registry);
  elementwise::RegisterBinary(registry);
  elementwise::RegisterConvert(registry);
}

}  // namespace weft
