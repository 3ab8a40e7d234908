// CPU kernels of the attention family.
#ifndef WEFT_OPS_ATTENTION_CPU_H_
#define WEFT_OPS_ATTENTION_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

// Adds `attention` and `attention_grad`. Threads share out heads (and, where there are fewer heads
// than threads, query rows of the forward pass); results do not depend on the number of threads.
void RegisterAttentionKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_ATTENTION_CPU_H_
