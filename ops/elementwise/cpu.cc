// CPU kernels of the element-wise ops: neg exp log sqrt rsqrt tanh sigmoid
// square, add sub mul div maximum minimum greater_equal equal, scale, add_n,
// cast, broadcast_to. All are f32 (cast also bf16 and f16; broadcast_to moves elements
// of 2 or 4 bytes). An output may have the address of any input of its shape
// and type. A NaN operand gives NaN, in maximum and minimum as well.
#include "ops/elementwise/cpu_internal.h"
#include "ops/families.h"

namespace weft {

void RegisterElementwiseKernels(KernelRegistry& registry) {
  elementwise::RegisterUnary(registry);
  elementwise::RegisterBinary(registry);
  elementwise::RegisterConvert(registry);
}

}  // namespace weft
