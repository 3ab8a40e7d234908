// The parts of the family's registration.
#ifndef WEFT_OPS_ELEMENTWISE_CPU_INTERNAL_H_
#define WEFT_OPS_ELEMENTWISE_CPU_INTERNAL_H_

#include "ops/abi/registry.h"

namespace weft::elementwise {

// Elements that are worth a thread of their own: some 10 us of memory traffic.
inline constexpr int64_t kGrain = 16384;

void RegisterUnary(KernelRegistry& registry);
void RegisterBlocks(KernelRegistry& registry);
void RegisterBinary(KernelRegistry& registry);
void RegisterConvert(KernelRegistry& registry);

}  // namespace weft::elementwise

#endif  // WEFT_OPS_ELEMENTWISE_CPU_INTERNAL_H_
