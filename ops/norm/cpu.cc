#include "ops/norm/cpu.h"

#include "ops/norm/cpu_factories.h"

namespace weft {

void RegisterNormKernels(KernelRegistry& registry) {
  registry.Register("layer_norm", norm::CreateLayerNorm);
  registry.Register("layer_norm_grad", norm::CreateLayerNormGrad);
  registry.Register("rms_norm", norm::CreateRmsNorm);
  registry.Register("rms_norm_grad", norm::CreateRmsNormGrad);
}

}  // namespace weft
