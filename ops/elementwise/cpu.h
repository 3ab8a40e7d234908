// CPU kernels of the element-wise ops: neg exp log sqrt rsqrt tanh sigmoid
// square, add sub mul div maximum minimum greater_equal equal, scale, add_n,
// cast, broadcast_to. All are f32 (cast also bf16 and f16; broadcast_to moves elements
// of 2 or 4 bytes). An output may have the address of any input of its shape
// and type. A NaN operand gives NaN, in maximum and minimum as well.
#ifndef WEFT_OPS_ELEMENTWISE_CPU_H_
#define WEFT_OPS_ELEMENTWISE_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterElementwiseKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_ELEMENTWISE_CPU_H_
