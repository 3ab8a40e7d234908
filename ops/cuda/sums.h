// What sums of a type are taken in, as in ops/abi/number_types.h.
#ifndef WEFT_OPS_CUDA_SUMS_H_
#define WEFT_OPS_CUDA_SUMS_H_

#include <type_traits>

#include "ops/cuda/types.h"

namespace weft::gpu {

// Floating-point numbers are summed in double; integers wrap around, hence unsigned words.
template <typename T>
WEFT_DEVICE auto ToSum(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return static_cast<double>(Widen(x));
  }
}
template <typename T>
using SumOf = decltype(ToSum(T{}));

template <typename T>
WEFT_DEVICE T FromSum(SumOf<T> sum) {
  if constexpr (std::is_integral_v<T>) {
    return sum;
  } else {
    return Narrow<T>(static_cast<float>(sum));
  }
}

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_SUMS_H_
