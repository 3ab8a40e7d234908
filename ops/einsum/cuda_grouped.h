// GPU kernels of grouped products.
#ifndef WEFT_OPS_EINSUM_CUDA_GROUPED_H_
#define WEFT_OPS_EINSUM_CUDA_GROUPED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::einsum {

absl::StatusOr<std::unique_ptr<Kernel>> CreateGpuGroupedMatmul(const KernelSpec& spec);
absl::StatusOr<std::unique_ptr<Kernel>> CreateGpuGroupedOuter(const KernelSpec& spec);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_GROUPED_H_
