// CPU kernels of the norm family.
// Adds `layer_norm`, `layer_norm_grad`, `rms_norm`, `rms_norm_grad` and, for each, `residual_...` (residual.h). Results
// do not depend on the number of threads.
#include "ops/families.h"
#include "ops/norm/cpu_factories.h"

namespace weft {

void RegisterNormKernels(KernelRegistry& registry) {
  registry.Register("layer_norm", norm::CreateLayerNorm);
  registry.Register("layer_norm_grad", norm::CreateLayerNormGrad);
  registry.Register("residual_layer_norm", norm::CreateResidualLayerNorm);
  registry.Register("residual_layer_norm_grad", norm::CreateResidualLayerNormGrad);
  registry.Register("residual_rms_norm", norm::CreateResidualRmsNorm);
  registry.Register("residual_rms_norm_grad", norm::CreateResidualRmsNormGrad);
  registry.Register("rms_norm", norm::CreateRmsNorm);
  registry.Register("rms_norm_grad", norm::CreateRmsNormGrad);
}

}  // namespace weft
