// The ways to multiply on a GPU.
#ifndef WEFT_OPS_EINSUM_CUDA_PRODUCT_H_
#define WEFT_OPS_EINSUM_CUDA_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/einsum/contraction.h"

namespace weft::einsum {

// Makes the kernel of `spec`, an einsum whose equation is `contraction` (merged;
// if it is swapped, its left operand is the spec's second input). kUnimplemented: this way does not do it.
using CudaProductFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(const KernelSpec& spec,
                                                                       const Contraction& contraction);

// The GPU's library of matrix products, where it has one: contractions that are (batched, strided)
// products of matrices, a few of them if more than one axis is neither row, column, inner nor the batch.
absl::StatusOr<std::unique_ptr<Kernel>> CreateLibraryProduct(const KernelSpec& spec, const Contraction& contraction);

// Our own tiled kernel: any contraction of few axes, any alignment, always there.
absl::StatusOr<std::unique_ptr<Kernel>> CreateTiledProduct(const KernelSpec& spec, const Contraction& contraction);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_PRODUCT_H_
