// Batched matrix products from packed operands, summed in float32.
#ifndef WEFT_OPS_EINSUM_CPU_PACKED_PRODUCT_H_
#define WEFT_OPS_EINSUM_CPU_PACKED_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_product.h"

namespace weft::einsum {

// A product for operands of f32, bf16 or f16, in the order left, right, result. Operands are copied to float32 in the
// order in which microkernels (cpu_microkernel.h) read them, some megabytes at a time, shared by all threads. One of
// them is read where it lies: in f32 the left one, or a larger right one, if its `inner` elements lie next to each
// other. The bits of an element depend on its row, its column and the length of `inner` alone: not on threads, nor on
// what is beside it, so that a part of a matrix has those of the whole. kUnimplemented where an operand has no dim
// whose elements lie next to each other, or one that is too long for the library; or matrices are so small that copies
// would not pay.
absl::StatusOr<std::unique_ptr<Product>> CreatePackedProduct(const Contraction& contraction, const DType (&types)[3],
                                                             int threads);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_PACKED_PRODUCT_H_
