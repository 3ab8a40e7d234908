// A float32 matrix product on the calling thread.
#ifndef WEFT_OPS_EINSUM_CPU_SGEMM_H_
#define WEFT_OPS_EINSUM_CPU_SGEMM_H_

#include <string>

#include "absl/status/statusor.h"

namespace weft::einsum {

// Rows `stride` elements apart, elements of a row next to each other. `transposed`: what is read is the transpose of
// what lies there.
struct FloatMatrix {
  const float* data;
  int stride;
  bool transposed;
};

// result[rows, columns] = left[rows, inner] * right[inner, columns]; rows of the result are `stride` elements apart.
// Any number of threads may call.
using Sgemm = void (*)(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right,
                       float* result, int stride);

// OpenBLAS's, which is opened by the first call: programs neither link nor need it. nullptr where there is none that
// several threads may call at a time (a build without threads may mix up their buffers).
Sgemm OpenBlasSgemm();

// Its version and the processor whose kernels it has chosen, "OpenBLAS 0.3.21 for Cooperlake"; kNotFound: why it is
// not used.
absl::StatusOr<std::string> OpenBlasVersion();

// Plain loops for where there is none. Sums in float, over `inner` in order or in 16 interleaved parts.
void PlainSgemm(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right, float* result,
                int stride);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_SGEMM_H_
