// Attention that stores its weights.
#ifndef WEFT_OPS_ATTENTION_CPU_UNFUSED_H_
#define WEFT_OPS_ATTENTION_CPU_UNFUSED_H_

#include "ops/abi/registry.h"

namespace weft::attention {

// Adds `attention_unfused`, `attention_unfused_grad` and `attention_unfused_bias_grad`.
void RegisterUnfusedKernels(KernelRegistry& registry);

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CPU_UNFUSED_H_
