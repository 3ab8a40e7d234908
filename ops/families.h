// What registers the kernels of each family: RegisterSoftmaxKernels for CPUs, defined and described in its cpu.cc,
// RegisterSoftmaxCudaKernels for GPUs, in its cuda.cc, and so on.
#ifndef WEFT_OPS_FAMILIES_H_
#define WEFT_OPS_FAMILIES_H_

#include "ops/abi/registry.h"

namespace weft {

#define WEFT_FAMILY(name, Name)                           \
  void Register##Name##Kernels(KernelRegistry& registry); \
  void Register##Name##CudaKernels(KernelRegistry& registry);
#include "ops/families.inc"
#undef WEFT_FAMILY

}  // namespace weft

#endif  // WEFT_OPS_FAMILIES_H_
