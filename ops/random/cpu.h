// CPU kernels of random_normal, random_uniform and fill (f32, no operands):
// also the initialisers of parameters.
//
// An element is a function of the run's seed, the op's seed, the step and the
// element's index e in the whole batch: micro_batch * the elements of the global
// tensor + the index there. With W = the words of
// Philox(MixSeed(context.seed, seed), e / 4, step):
//  - uniform: low + (high - low) UniformFloat(W[e % 4]), below `high`;
//  - normal (Box and Muller, 1958): two neighbours share a pair of words,
//    (W[0], W[1]) or (W[2], W[3]). With u = first 2^-32 + 2^-33 in f32 and v =
//    UniformFloat(second), the even element is mean + std r cos(2 pi v), the
//    odd one mean + std r sin(2 pi v), r = sqrt(-2 log u) < 6.77. Computed in
//    f32: |error| <= std 4e-6 + 2^-24 |result|.
#ifndef WEFT_OPS_RANDOM_CPU_H_
#define WEFT_OPS_RANDOM_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterRandomKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_RANDOM_CPU_H_
