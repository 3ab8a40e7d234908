// All CPU kernels, of every operator family.
#ifndef WEFT_OPS_CPU_KERNELS_H_
#define WEFT_OPS_CPU_KERNELS_H_

#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/registry.h"

namespace weft {

// Adds them to `registry`, which must have none of them yet.
void RegisterCpuKernels(KernelRegistry& registry);

// The library that multiplies small float32 matrices, for people; kNotFound: why plain loops do, which are slow.
absl::StatusOr<std::string> FloatProductLibrary();
// The one that multiplies large matrices, which this program carries.
std::string LargeProductLibrary();

}  // namespace weft

#endif  // WEFT_OPS_CPU_KERNELS_H_
