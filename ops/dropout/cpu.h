// CPU kernel of dropout (f32): y = x / (1 - rate) where the element is kept,
// else 0. It may be in place.
//
// Whether an element is kept is a function of the run's seed, the op's seed,
// the step and the element's place in the whole batch, e = its index in the
// global tensor + micro_batch * the elements of that tensor: the key is
// MixSeed(context.seed, seed), the event the step, and the element is kept iff
// UniformFloat(PhiloxElement(key, step, e)) >= rate. So neither the layout nor
// (for tensors whose first dim is the batch) the number of micro-batches
// changes what is dropped, and the op applied to a gradient drops the same.
#ifndef WEFT_OPS_DROPOUT_CPU_H_
#define WEFT_OPS_DROPOUT_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterDropoutKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_DROPOUT_CPU_H_
