#include "ops/cpu_kernels.h"

#include "ops/einsum/cpu_microkernel.h"
#include "ops/einsum/cpu_sgemm.h"
#include "ops/families.h"

namespace weft {

void RegisterCpuKernels(KernelRegistry& registry) {
#define WEFT_FAMILY(name, Name) Register##Name##Kernels(registry);
#include "ops/families.inc"
#undef WEFT_FAMILY
}

absl::StatusOr<std::string> FloatProductLibrary() { return einsum::OneDnnVersion(); }
std::string LargeProductLibrary() { return einsum::MicrokernelVersion(); }

}  // namespace weft
