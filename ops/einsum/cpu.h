// CPU kernels of the einsum family.
#ifndef WEFT_OPS_EINSUM_CPU_H_
#define WEFT_OPS_EINSUM_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds `einsum`: one oneDNN matrix product, between permuted copies where the equation or the CPU
// asks for them. Results do not depend on the run, but may on the number of threads.
void RegisterEinsumKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_EINSUM_CPU_H_
