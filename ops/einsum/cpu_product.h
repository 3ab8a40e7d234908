// A prepared batched matrix product.
#ifndef WEFT_OPS_EINSUM_CPU_PRODUCT_H_
#define WEFT_OPS_EINSUM_CPU_PRODUCT_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"
#include "ops/einsum/contraction.h"

namespace weft::einsum {

// Called by one thread at a time.
class Product {
 public:
  virtual ~Product() = default;

  virtual size_t workspace_bytes() const = 0;
  // `workspace` has that many bytes, aligned to 64.
  virtual absl::Status Run(const void* left, const void* right, void* result, void* workspace) = 0;
};

// A product for operands of `types`, in the order left, right, result. Large ones are packed (cpu_packed_product.h),
// but of bf16 where oneDNN is faster; small ones of f32 and bf16 are oneDNN's, of f32 plain loops' where it is not
// there (cpu_sgemm.h), single rows of f32 ours (cpu_row_product.h), and small ones of f16 nobody's. kUnimplemented
// where the types or the contraction's axes (more than one of rows, columns or inner; columns that do not lie next to
// each other) have none on this CPU.
absl::StatusOr<std::unique_ptr<Product>> CreateProduct(const Contraction& contraction, const DType (&types)[3],
                                                       int threads);
absl::StatusOr<std::unique_ptr<Product>> CreateOneDnnProduct(const Contraction& contraction, const DType (&types)[3],
                                                             int threads);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_PRODUCT_H_
