// CPU kernels of the optimizer step: square_sum, clip_scale, loss_scale, learning_rate,
// sgd, sgd_momentum, adam, accumulate. All f32, but that a gradient may be bf16
// or f16 for square_sum and the updates. The updates may be in
// place in any operand of their shape.
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
//  - sgd: p -= lr (g grad_scale + weight_decay p). sgd_momentum:
//    v = momentum v + g grad_scale + weight_decay p; p -= lr v.
//  - adam (Kingma and Ba, ICLR 2015; decoupled: Loshchilov and Hutter, ICLR
//    2019), t = context.step + 1, g the scaled gradient, plus weight_decay p
//    unless decoupled: m = beta1 m + (1 - beta1) g; v = beta2 v +
//    (1 - beta2) g^2; p -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) +
//    eps), and lr weight_decay p more if decoupled.
//  - The updates take the number of the step, t, from an input behind the others
//    if there is one; where it is 0 the results are the old values, bit for bit.
//  - accumulate: inputs x and acc, output acc: x at micro-batch 0, then acc + x.
#include "ops/families.h"
#include "ops/optimizer/cpu_internal.h"

namespace weft {

void RegisterOptimizerKernels(KernelRegistry& registry) {
  optimizer::RegisterScalars(registry);
  optimizer::RegisterUpdates(registry);
}

}  // namespace weft
