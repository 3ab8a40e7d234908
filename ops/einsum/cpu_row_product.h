// Products of a single float32 row with a matrix, as in generation.
#ifndef WEFT_OPS_EINSUM_CPU_ROW_PRODUCT_H_
#define WEFT_OPS_EINSUM_CPU_ROW_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_product.h"

namespace weft::einsum {

// Each element of the matrix is read once, and takes longer to come from memory than to be multiplied. Threads have
// neighbouring columns each, so that all read long runs. An element of the result is summed in one order, whatever the
// columns beside it: the bits do not depend on the number of threads. kUnimplemented: more rows than one, or an operand
// whose elements do not lie next to each other.
absl::StatusOr<std::unique_ptr<Product>> CreateRowProduct(const Contraction& contraction, int threads);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_ROW_PRODUCT_H_
