// The factories of the norm family, one file a kind of norm.
#ifndef WEFT_OPS_NORM_CPU_FACTORIES_H_
#define WEFT_OPS_NORM_CPU_FACTORIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::norm {

absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNorm(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNormGrad(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateRmsNorm(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateRmsNormGrad(const KernelSpec& spec);

}  // namespace weft::norm

#endif  // WEFT_OPS_NORM_CPU_FACTORIES_H_
