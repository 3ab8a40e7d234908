#include "ops/cpu_kernels.h"

#include "ops/activation/cpu.h"
#include "ops/attention/cpu.h"
#include "ops/dropout/cpu.h"
#include "ops/einsum/cpu.h"
#include "ops/elementwise/cpu.h"
#include "ops/embedding/cpu.h"
#include "ops/layout/cpu.h"
#include "ops/loss/cpu.h"
#include "ops/norm/cpu.h"
#include "ops/optimizer/cpu.h"
#include "ops/random/cpu.h"
#include "ops/reduce/cpu.h"
#include "ops/softmax/cpu.h"

namespace weft {

void RegisterCpuKernels(KernelRegistry& registry) {
  RegisterActivationKernels(registry);
  RegisterAttentionKernels(registry);
  RegisterDropoutKernels(registry);
  RegisterEinsumKernels(registry);
  RegisterElementwiseKernels(registry);
  RegisterEmbeddingKernels(registry);
  RegisterLayoutKernels(registry);
  RegisterLossKernels(registry);
  RegisterNormKernels(registry);
  RegisterOptimizerKernels(registry);
  RegisterRandomKernels(registry);
  RegisterReduceKernels(registry);
  RegisterSoftmaxKernels(registry);
}

absl::StatusOr<std::string> FloatProductLibrary() { return EinsumLibrary(); }

}  // namespace weft
