#include "ops/einsum/cpu_microkernel.h"

#include "absl/strings/str_cat.h"
#include "libxsmm.h"

namespace weft::einsum {

absl::StatusOr<Microkernel> Microkernel::Create(int rows, int inner, int left_stride, int result_stride, bool fetches) {
  const libxsmm_blasint right_stride = kTileColumns, left = left_stride, result = result_stride;
  const float one = 1, zero = 0;
  const int flags = LIBXSMM_GEMM_FLAG_NONE;
  // Where it writes the result, it prefetches the same place relative to the operand that it calls B.
  const int prefetch = fetches ? LIBXSMM_GEMM_PREFETCH_BL2_VIA_C : LIBXSMM_GEMM_PREFETCH_NONE;
  const Code code =
      libxsmm_smmdispatch(kTileColumns, rows, inner, &right_stride, &left, &result, &one, &zero, &flags, &prefetch);
  if (code != nullptr) return Microkernel(code);
  return absl::UnimplementedError(absl::StrCat("libxsmm: expected code for ", libxsmm_get_target_arch(), ", got none"));
}

std::string MicrokernelVersion() {
  return absl::StrCat("libxsmm ", LIBXSMM_VERSION_MAJOR, ".", LIBXSMM_VERSION_MINOR, " for ",
                      libxsmm_get_target_arch());
}

}  // namespace weft::einsum
