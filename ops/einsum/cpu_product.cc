#include "ops/einsum/cpu_product.h"

#include "oneapi/dnnl/dnnl.h"
#include "ops/einsum/cpu_float_product.h"
#include "ops/einsum/cpu_packed_product.h"
#include "ops/einsum/cpu_row_product.h"
#include "ops/einsum/cpu_sgemm.h"

namespace weft::einsum {
namespace {

// Whether this processor multiplies bf16 faster than float32: by tiles (AMX), or by vdpbf16ps where it takes no more
// time than an fma of as many bits. Intel's take four times it: an Emerald Rapids without AMX makes 88 GFLOP/s by the
// one, 165 by the other.
bool HasFastBf16() {
  const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
  const auto has = [isa](dnnl_cpu_isa_t it) { return (isa & it) == it; };
  return has(dnnl_cpu_isa_avx512_core_amx) || (has(dnnl_cpu_isa_avx512_core_bf16) && __builtin_cpu_is("intel") == 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Product>> CreateProduct(const Contraction& contraction, const DType (&types)[3],
                                                       int threads) {
  if (contraction.rows.size() > 1 || contraction.columns.size() > 1 || contraction.inner.size() > 1) {
    return absl::UnimplementedError("expected at most one axis of rows, columns and inner, got more");
  }
  if (!contraction.columns.empty() && contraction.columns[0].stride[kResult] != 1) {
    return absl::UnimplementedError("expected columns next to each other in the result");
  }
  absl::StatusOr<std::unique_ptr<Product>> row = CreateRowProduct(contraction, types, threads);
  if (row.ok()) return row;
  const auto any = [&types](DType type) {
    return types[kLeft] == type || types[kRight] == type || types[kResult] == type;
  };
  if (any(DType::kF16) || !any(DType::kBF16) || !HasFastBf16()) {
    absl::StatusOr<std::unique_ptr<Product>> packed = CreatePackedProduct(contraction, types, threads);
    if (packed.ok() || !absl::IsUnimplemented(packed.status())) return packed;
  }
  if (any(DType::kF16)) return absl::UnimplementedError("expected f32 or bf16, got f16");
  if (any(DType::kBF16)) return CreateOneDnnProduct(contraction, types, threads);
  const Sgemm library = OneDnnSgemm();
  return CreateFloatProduct(contraction, threads, library != nullptr ? library : &PlainSgemm);
}

}  // namespace weft::einsum
