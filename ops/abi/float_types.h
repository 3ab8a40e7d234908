// Kernels that take float32, bfloat16 and float16: values are stored in any of them and computed with in float.
#ifndef WEFT_OPS_ABI_FLOAT_TYPES_H_
#define WEFT_OPS_ABI_FLOAT_TYPES_H_

#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/dtype.h"
#include "ops/abi/kernel.h"

namespace weft {

inline float Widen(float x) { return x; }
inline float Widen(BFloat16 x) { return ToFloat(x); }
inline float Widen(Float16 x) { return ToFloat(x); }

// Rounds to nearest even.
template <typename T>
T Narrow(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return ToBFloat16(x);
  } else {
    return ToFloat16(x);
  }
}

// What `make` makes of a value of the C++ type for `type`, so that
//   MakeForFloat(type, [&](auto zero) { return std::make_unique<ReluKernel<decltype(zero)>>(...); })
// creates the kernel of that type; kInvalidArgument where it is none of the three.
template <typename Make>
absl::StatusOr<std::unique_ptr<Kernel>> MakeForFloat(DType type, const Make& make) {
  switch (type) {
    case DType::kF32:
      return make(float{});
    case DType::kBF16:
      return make(BFloat16{});
    case DType::kF16:
      return make(Float16{});
    default:
      return absl::InvalidArgumentError(absl::StrCat("expected f32, bf16 or f16, got ", NameOf(type)));
  }
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_FLOAT_TYPES_H_
