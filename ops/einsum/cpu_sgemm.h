// A float32 matrix product on the calling thread.
#ifndef WEFT_OPS_EINSUM_CPU_SGEMM_H_
#define WEFT_OPS_EINSUM_CPU_SGEMM_H_

#include <string>

#include "absl/status/status.h"
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
// Any number of threads may call. kResourceExhausted: no memory to pack operands in.
using Sgemm = absl::Status (*)(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right,
                               float* result, int stride);

// oneDNN's, which is opened by the first call: programs neither link nor need it. nullptr where there is none.
Sgemm OneDnnSgemm();

// Its version and the instructions whose kernels it has chosen, "oneDNN 2.6.3 for AVX-512"; kNotFound: why it is not
// used.
absl::StatusOr<std::string> OneDnnVersion();

// Plain loops for where there is none. Sums in float, over `inner` in order or in 16 interleaved parts.
absl::Status PlainSgemm(int rows, int columns, int inner, const FloatMatrix& left, const FloatMatrix& right,
                        float* result, int stride);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_SGEMM_H_
