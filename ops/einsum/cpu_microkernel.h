// Products of small matrices by libxsmm, which writes their code for this processor when they are prepared.
#ifndef WEFT_OPS_EINSUM_CPU_MICROKERNEL_H_
#define WEFT_OPS_EINSUM_CPU_MICROKERNEL_H_

#include <string>

#include "absl/status/statusor.h"

namespace weft::einsum {

// Columns of the right operand and the result: as many as the registers of AVX-512 sum for six rows at a time.
inline constexpr int kTileColumns = 64;

// result[rows, 64] = left[rows, inner] * right[inner, 64] in float32. An element is summed term by term in the order of
// `inner`, each by one fused multiplication and addition, wherever in a tile it lies. The rows of `right` follow one
// another.
class Microkernel {
 public:
  Microkernel() = default;
  // Strides of rows, in elements. `fetches`: the place of the next 64 columns of the result comes to the caches
  // meanwhile, as they are made next. kUnimplemented where the library has no code for this processor.
  static absl::StatusOr<Microkernel> Create(int rows, int inner, int left_stride, int result_stride, bool fetches);
  void operator()(const float* left, const float* right, float* result) const {
    code_(right, left, result, right, result + kTileColumns, result);
  }

 private:
  // The library has columns next to each other: what it is told is the transposed product.
  // The last three are what it may prefetch.
  using Code = void (*)(const float* right, const float* left, float* result, ...);
  explicit Microkernel(Code code) : code_(code) {}

  Code code_ = nullptr;
};

// "libxsmm 1.17 for spr".
std::string MicrokernelVersion();

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_MICROKERNEL_H_
