// CPU kernels of the norm family.
// Adds `layer_norm`, `layer_norm_grad`, `rms_norm` and `rms_norm_grad`. Results
// do not depend on the number of threads.
#include "ops/families.h"
#include "ops/norm/cpu_factories.h"

namespace weft {

void RegisterNormKernels(KernelRegistry& registry) {
  registry.Register("layer_norm", norm::CreateLayerNorm);
  registry.Register("layer_norm_grad", norm::CreateLayerNormGrad);
  registry.Register("rms_norm", norm::CreateRmsNorm);
  registry.Register("rms_norm_grad", norm::CreateRmsNormGrad);
}

}  // namespace weft
