// CPU kernels of the element-wise ops: neg exp log sqrt rsqrt tanh sigmoid square
// abs sign sin cos, scale add_scalar power clamp, add sub mul div maximum minimum,
// add_n, cast, broadcast_to. All are f32, bf16 and f16, computed in f32; add, sub,
// mul, maximum and minimum also i32 and i64; cast goes between all of these and u8,
// broadcast_to moves elements of any type. An output may have the address of any
// input of its shape and type. A NaN operand gives NaN, in maximum and minimum as well.
#include "ops/elementwise/cpu_internal.h"
#include "ops/families.h"

namespace weft {

void RegisterElementwiseKernels(KernelRegistry& registry) {
  elementwise::RegisterUnary(registry);
  elementwise::RegisterBlocks(registry);
  elementwise::RegisterBinary(registry);
  elementwise::RegisterConvert(registry);
}

}  // namespace weft
