// Products of a single row with a matrix, as in generation.
#ifndef WEFT_OPS_EINSUM_CPU_ROW_PRODUCT_H_
#define WEFT_OPS_EINSUM_CPU_ROW_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_product.h"

namespace weft::einsum {

// Operands and result are f32, bf16 or f16, each of its own; sums are float32, rounded once. Each element of the matrix
// is read once, and takes longer to come from memory than to be multiplied. Threads have neighbouring columns each, so
// that all read long runs. An element of the result is summed in one order, whatever the columns beside it: the bits do
// not depend on the number of threads. kUnimplemented: more rows than one, another type, or an operand whose elements
// do not lie next to each other.
absl::StatusOr<std::unique_ptr<Product>> CreateRowProduct(const Contraction& contraction, const DType (&types)[3],
                                                          int threads);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_ROW_PRODUCT_H_
