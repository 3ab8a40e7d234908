// Attention over two sets of keys from attention over each.
#ifndef WEFT_OPS_ATTENTION_CPU_MERGE_H_
#define WEFT_OPS_ATTENTION_CPU_MERGE_H_

#include "ops/abi/registry.h"

namespace weft::attention {

// Adds `attention_merge`.
void RegisterMergeKernel(KernelRegistry& registry);

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CPU_MERGE_H_
