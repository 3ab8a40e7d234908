// Kernels of grouped products.
#ifndef WEFT_OPS_EINSUM_CPU_GROUPED_H_
#define WEFT_OPS_EINSUM_CPU_GROUPED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::einsum {

absl::StatusOr<std::unique_ptr<Kernel>> CreateGroupedMatmul(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateGroupedOuter(const KernelSpec& spec);

// Of bf16 operands by oneDNN; kUnimplemented for others, and where this CPU has no such product.
absl::StatusOr<std::unique_ptr<Kernel>> CreateBf16GroupedMatmul(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateBf16GroupedOuter(const KernelSpec& spec);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_GROUPED_H_
