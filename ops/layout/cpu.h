// CPU kernels that move elements without looking at them: reshape, transpose,
// slice, pad, concat, copy, copy_tile, mask_rank. Elements of any type.
// reshape, copy and mask_rank may have their input's address as their output's.
#ifndef WEFT_OPS_LAYOUT_CPU_H_
#define WEFT_OPS_LAYOUT_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterLayoutKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_LAYOUT_CPU_H_
