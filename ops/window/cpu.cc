// CPU kernels of the window family.
// Adds `unfold`, `fold`, `max_pool`, `max_pool_grad`, `depthwise_conv` and its two gradients. A place's elements that
// no window slides along lie side by side and are computed as vectors. Results do not depend on the number of threads.
#include "ops/families.h"
#include "ops/window/cpu_internal.h"

namespace weft {

void RegisterWindowKernels(KernelRegistry& registry) {
  registry.Register("unfold", &window::CreateUnfold);
  registry.Register("fold", &window::CreateFold);
  registry.Register("max_pool", &window::CreateMaxPool);
  registry.Register("max_pool_grad", &window::CreateMaxPoolGrad);
  registry.Register("depthwise_conv", &window::CreateDepthwiseConv);
  registry.Register("depthwise_conv_grad_input", &window::CreateDepthwiseConvGradInput);
  registry.Register("depthwise_conv_grad_weight", &window::CreateDepthwiseConvGradWeight);
}

}  // namespace weft
