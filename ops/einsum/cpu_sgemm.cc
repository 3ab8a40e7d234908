#include "ops/einsum/cpu_sgemm.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_debug.h"
#include "ops/einsum/cpu_onednn.h"

namespace weft::einsum {
namespace {

absl::Status ByOneDnn(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right,
                      float* result, int stride) {
  if (inner == 0) {  // of an empty sum the library leaves what is there
    for (int64_t row = 0; row < rows; ++row) std::fill_n(result + row * stride, columns, 0.0f);
    return absl::OkStatus();
  }
  UseOneThread();
  const dnnl_status_t status =
      dnnl_sgemm(left.transposed ? 'T' : 'N', right.transposed ? 'T' : 'N', rows, columns, inner, 1, left.data,
                 left.stride, right.data, right.stride, 0, result, stride);
  if (status == dnnl_success) return absl::OkStatus();
  const std::string message = absl::StrCat("oneDNN: a product of ", rows, " x ", inner, " and ", inner, " x ", columns,
                                           " floats: ", dnnl_status2str(status));
  return status == dnnl_out_of_memory ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

// The library makes its kernels in its first product of more than one row, in some 40 ms: not to be in a step.
bool HasMadeKernels() {
  const float ones[4] = {1, 1, 1, 1};
  float product[4] = {};
  return ByOneDnn(2, 2, 2, {ones, 2, false}, {ones, 2, false}, product, 2).ok() && product[3] == 2;
}

const char* Instructions(dnnl_cpu_isa_t isa) {
  if ((isa & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core) return "AVX-512";
  if ((isa & dnnl_cpu_isa_avx2) == dnnl_cpu_isa_avx2) return "AVX2";
  return (isa & dnnl_cpu_isa_avx) == dnnl_cpu_isa_avx ? "AVX" : "SSE4.1";
}

constexpr int kLanes = 16;
constexpr int kStrip = 512;  // columns whose sums stay in the first-level cache

float LaneDot(const float* a, int64_t step, const float* b, int n) {
  float lanes[kLanes] = {};
  int p = 0;
  for (; p + kLanes <= n; p += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[(p + lane) * step] * b[p + lane];
  }
  float sum = 0;
  for (; p < n; ++p) sum += a[p * step] * b[p];
  for (float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

Sgemm OneDnnSgemm() {
  static const bool is_there = HasMadeKernels();
  return is_there ? &ByOneDnn : nullptr;
}

absl::StatusOr<std::string> OneDnnVersion() {
  const dnnl_version_t* const version = dnnl_version();
  if (version == nullptr) return absl::NotFoundError(OneDnnError());
  if (OneDnnSgemm() == nullptr)
    return absl::NotFoundError("oneDNN: expected 2 as an element of a first product, got another number");
  return absl::StrCat("oneDNN ", version->major, ".", version->minor, ".", version->patch, " for ",
                      Instructions(dnnl_get_effective_cpu_isa()));
}

absl::Status PlainSgemm(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right,
                        float* result, int stride) {
  const int64_t row_step = left.transposed ? 1 : left.stride, inner_step = left.transposed ? left.stride : 1;
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = left.data + row * row_step;
    float* to = result + row * stride;
    if (right.transposed) {
      for (int64_t j = 0; j < columns; ++j) to[j] = LaneDot(from, inner_step, right.data + j * right.stride, inner);
      continue;
    }
    for (int begin = 0; begin < columns; begin += kStrip) {
      float sums[kStrip] = {};
      const int count = std::min(kStrip, columns - begin);
      for (int64_t p = 0; p < inner; ++p) {
        const float factor = from[p * inner_step];
        const float* terms = right.data + p * right.stride + begin;
        for (int j = 0; j < count; ++j) sums[j] += factor * terms[j];
      }
      std::copy(sums, sums + count, to + begin);
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::einsum
