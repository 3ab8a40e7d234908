#include "ops/einsum/cpu_product.h"

#include "ops/einsum/cpu_float_product.h"
#include "ops/einsum/cpu_row_product.h"
#include "ops/einsum/cpu_sgemm.h"

namespace weft::einsum {

absl::StatusOr<std::unique_ptr<Product>> CreateProduct(const Contraction& contraction, const DType (&types)[3],
                                                       int threads) {
  if (contraction.rows.size() > 1 || contraction.columns.size() > 1 || contraction.inner.size() > 1) {
    return absl::UnimplementedError("expected at most one axis of rows, columns and inner, got more");
  }
  if (!contraction.columns.empty() && contraction.columns[0].stride[kResult] != 1) {
    return absl::UnimplementedError("expected columns next to each other in the result");
  }
  if (types[kLeft] == DType::kF16 || types[kRight] == DType::kF16 || types[kResult] == DType::kF16) {
    return absl::UnimplementedError("expected f32 or bf16, got f16");
  }
  const bool all_float = types[kLeft] == DType::kF32 && types[kRight] == DType::kF32 && types[kResult] == DType::kF32;
  if (!all_float) return CreateOneDnnProduct(contraction, types, threads);
  absl::StatusOr<std::unique_ptr<Product>> row = CreateRowProduct(contraction, threads);
  if (row.ok()) return row;
  const Sgemm library = OneDnnSgemm();
  return CreateFloatProduct(contraction, threads, library != nullptr ? library : &PlainSgemm);
}

}  // namespace weft::einsum
