// Batched float32 matrix products, and how products are cut into pieces for threads.
#ifndef WEFT_OPS_EINSUM_CPU_FLOAT_PRODUCT_H_
#define WEFT_OPS_EINSUM_CPU_FLOAT_PRODUCT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/cpu_product.h"
#include "ops/einsum/cpu_sgemm.h"

namespace weft::einsum {

// How each product of a batch is cut: pieces of `rows` x `columns`, the last ones smaller. It depends on the shape
// alone: the bits of a product must not depend on the number of threads.
struct Cut {
  int64_t rows, columns;
};
Cut CutFor(int64_t rows, int64_t columns, int64_t inner, int64_t batches);

// Multiplications that are worth another thread.
inline constexpr double kWorkOfThread = 1 << 18;

// Needs no workspace. How a product is cut depends on its shape alone, so its bits do not depend on the number of
// threads. kUnimplemented where an operand has no dim whose elements lie next to each other, or one that is too long
// for the library.
absl::StatusOr<std::unique_ptr<Product>> CreateFloatProduct(const Contraction& contraction, int threads, Sgemm sgemm);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_FLOAT_PRODUCT_H_
