// Batched float32 matrix products, each cut into pieces for threads.
#ifndef WEFT_OPS_EINSUM_CPU_FLOAT_PRODUCT_H_
#define WEFT_OPS_EINSUM_CPU_FLOAT_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_product.h"
#include "ops/einsum/cpu_sgemm.h"

namespace weft::einsum {

// Needs no workspace. How a product is cut depends on its shape alone, so its bits do not depend on the number of
// threads. kUnimplemented where an operand has no dim whose elements lie next to each other, or one that is too long
// for the library.
absl::StatusOr<std::unique_ptr<Product>> CreateFloatProduct(const Contraction& contraction, int threads, Sgemm sgemm);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_FLOAT_PRODUCT_H_
