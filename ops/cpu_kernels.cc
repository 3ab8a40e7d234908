#include "ops/cpu_kernels.h"

#include "ops/einsum/cpu.h"

namespace weft {

#define WEFT_FAMILY(name, Name) void Register##Name##Kernels(KernelRegistry& registry);
#include "ops/families.inc"
#undef WEFT_FAMILY

void RegisterCpuKernels(KernelRegistry& registry) {
#define WEFT_FAMILY(name, Name) Register##Name##Kernels(registry);
#include "ops/families.inc"
#undef WEFT_FAMILY
}

absl::StatusOr<std::string> FloatProductLibrary() { return EinsumLibrary(); }

}  // namespace weft
