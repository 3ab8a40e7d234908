// CPU kernels of the cross entropy's parts: sum_exp, pick, cross_entropy_loss,
// cross_entropy_grad. Logits may be a tile of the vocabulary. A label that is
// neither `ignore_index` nor within the whole vocabulary is an error of Run().
//
// sum_exp adds in double what Exp() gives (1.5 ulp each), so its relative
// error is at most 4 2^-24 beside that of rounding logit - max, whatever the
// vocabulary. cross_entropy_loss works in double and rounds once. Both add in
// an order that depends on the shape alone.
#ifndef WEFT_OPS_LOSS_CPU_H_
#define WEFT_OPS_LOSS_CPU_H_

#include "ops/abi/registry.h"

namespace weft {

void RegisterLossKernels(KernelRegistry& registry);

}  // namespace weft

#endif  // WEFT_OPS_LOSS_CPU_H_
