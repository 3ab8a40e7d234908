// The ways to multiply on a GPU.
#ifndef WEFT_OPS_EINSUM_CUDA_PRODUCT_H_
#define WEFT_OPS_EINSUM_CUDA_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/epilogue.h"

namespace weft::einsum {

// Each makes the kernel of `spec`, an einsum whose equation is `contraction` (merged; if it is swapped, its left
// operand is the spec's second input). kUnimplemented: this way does not do it.

// The GPU's library of matrix products, where it has one: contractions that are (batched, strided) products of
// matrices, a few of them if more than one axis is neither row, column, inner nor the batch. With an epilogue one
// matrix, whose columns are what a bias goes along.
// `adds`: to what the result holds.
absl::StatusOr<std::unique_ptr<Kernel>> CreateLibraryProduct(const KernelSpec& spec, const Contraction& contraction,
                                                             const Epilogue& epilogue, bool adds = false);

// Our own tiled kernel: any contraction of few axes, any alignment, always there; all of an epilogue but sums.
// `accumulates`: from micro-batch 1 on the product is added to the result, which is float32.
absl::StatusOr<std::unique_ptr<Kernel>> CreateTiledProduct(const KernelSpec& spec, const Contraction& contraction,
                                                           const Epilogue& epilogue, bool accumulates = false);

// `product` and then, where it does not do that itself, the epilogue: of every element if `finish`, and the sums.
absl::StatusOr<std::unique_ptr<Kernel>> CreateFollowed(const KernelSpec& spec, const Epilogue& epilogue,
                                                       std::unique_ptr<Kernel> product, bool finish);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_PRODUCT_H_
