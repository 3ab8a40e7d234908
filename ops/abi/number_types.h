// Kernels that take float32, bfloat16, float16, i32 and i64, and sums of them.
#ifndef WEFT_OPS_ABI_NUMBER_TYPES_H_
#define WEFT_OPS_ABI_NUMBER_TYPES_H_

#include <cstdint>
#include <memory>
#include <type_traits>

#include "ops/abi/float_types.h"

namespace weft {

// MakeForFloat() for the floating-point types, i32 and i64.
template <typename Make>
absl::StatusOr<std::unique_ptr<Kernel>> MakeForNumber(DType type, const Make& make) {
  switch (type) {
    case DType::kI32:
      return make(int32_t{});
    case DType::kI64:
      return make(int64_t{});
    default:
      return MakeForFloat(type, make);
  }
}

// A number as what sums of its type are taken in: double, or an unsigned integer, which wraps around.
template <typename T>
auto ToSum(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return static_cast<double>(Widen(x));
  }
}
template <typename T>
using SumOf = decltype(ToSum(T{}));

template <typename T>
T FromSum(SumOf<T> sum) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(sum);
  } else {
    return Narrow<T>(static_cast<float>(sum));
  }
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_NUMBER_TYPES_H_
