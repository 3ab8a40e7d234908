// CPU kernels of the optimizer step beside its updates, which are generated (cells.cc): square_sum, clip_scale,
// loss_scale, learning_rate, accumulate. All f32, but that square_sum takes a gradient of bf16 or f16 too. accumulate
// may be in place in either operand.
//
//  - square_sum adds in double over a fixed partition, for n elements
//    |error| <= (2^-24 + n 2^-53) result, on any number of threads.
//  - clip_scale: grad_norm = sqrt(square_sum) / count, grad_scale =
//    min(1, clip_norm / (grad_norm + 1e-6)) / count (1 / count if clip_norm
//    is 0). A count of 0, every label ignored, is taken as 1: the gradients
//    are 0 then. With a third input, loss_scale, both results are divided by it
//    (the norm before it is clipped).
//  - loss_scale: inputs square_sum, scale, good_steps, skipped_steps; outputs
//    step and the next of the others. square_sum finite: step = context.step + 1
//    - skipped_steps; after growth_interval good steps in a row scale =
//    min(growth_factor scale, max). Otherwise step = 0 and scale =
//    max(backoff_factor scale, min).
//  - learning_rate, at context.step s: lr (s + 1) / warmup for s < warmup; then
//    lr f(x), x = min(1, (s - warmup) / (total - warmup)), with f = 1
//    ("constant"), 1 - (1 - min_ratio) x ("warmup_linear"), or
//    min_ratio + (1 - min_ratio) (1 + cos(pi x)) / 2 ("warmup_cosine").
//  - accumulate: inputs x and acc, output acc: x at micro-batch 0, then acc + x.
#include "ops/families.h"
#include "ops/optimizer/cpu_internal.h"

namespace weft {

void RegisterOptimizerKernels(KernelRegistry& registry) {
  optimizer::RegisterScalars(registry);
  optimizer::RegisterAccumulate(registry);
}

}  // namespace weft
