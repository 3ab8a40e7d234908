// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_ELEMENTWISE_CUDA_ARGUMENTS_H_
#define WEFT_OPS_ELEMENTWISE_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::elementwise {

inline constexpr int kThreads = 256;
inline constexpr int kMaxDims = 8;
inline constexpr int kMaxTerms = 64;

// y[i] = f(x[i]), i < n. `number`: the factor of `scale`, the addend of `add_scalar`, the exponent of `power`, the
// minimum of `clamp`, whose maximum is `other`.
struct UnaryArguments {
  const void* x;
  void* y;
  int64_t n;
  float number, other;
};

// y[i] = f(a[..], b[..]), i < n. The result's merged dims, innermost first, with
// the strides of a and b. `packed`: a pack of the result never leaves a row.
struct BinaryArguments {
  const void* a;
  const void* b;
  void* y;
  int64_t n;
  int32_t dims;
  bool packed;
  int64_t extent[kMaxDims];
  int64_t stride[kMaxDims][2];
};

// y[i] = ((x[0][i] + x[1][i]) + x[2][i]) + ..., i < n, summed in float.
struct AddNArguments {
  const void* x[kMaxTerms];
  void* y;
  int64_t n;
  int32_t terms;
};

// y[i] = x[..], i < n.
struct BroadcastArguments {
  const void* x;
  void* y;
  int64_t n;
  int32_t dims;
  int64_t extent[kMaxDims];
  int64_t stride[kMaxDims];
};

}  // namespace weft::elementwise

#endif  // WEFT_OPS_ELEMENTWISE_CUDA_ARGUMENTS_H_
