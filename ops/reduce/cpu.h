// CPU kernel of reduce: sum, mean and max of f32 over any dims.
//
// Sums are kept in double and rounded to f32 once, so for n summands
//   |error| <= 2^-24 |result| + n 2^-53 sum |x|
// whatever their order. The order depends on the shape alone: results are the
// same on any number of threads. A NaN summand gives NaN, in a maximum too.
#ifndef WEFT_OPS_REDUCE_CPU_H_
#define WEFT_OPS_REDUCE_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterReduceKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_REDUCE_CPU_H_
