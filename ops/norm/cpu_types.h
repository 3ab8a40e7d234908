// The types that norms are made for: rows of any floating-point type, weights of theirs or f32.
#ifndef WEFT_OPS_NORM_CPU_TYPES_H_
#define WEFT_OPS_NORM_CPU_TYPES_H_

#include <initializer_list>
#include <memory>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"

namespace weft::norm {

// A kernel for rows and weights of the types of `tensors`: rows first, then weights, all alike.
template <template <typename T, typename W> typename AnyKernel, typename... Args>
absl::StatusOr<std::unique_ptr<Kernel>> MakeNorm(std::initializer_list<const TensorSpec*> tensors,
                                                 const Args&... args) {
  const DType type = (*tensors.begin())->dtype, weight = (*(tensors.begin() + 1))->dtype;
  for (const TensorSpec* it : tensors) {
    if (it == *tensors.begin() || (it->dtype == weight && (weight == type || weight == DType::kF32))) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("expected weights of ", NameOf(type), " or f32, all alike, got ", it->ToString()));
  }
  return MakeForFloat(type, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if (weight == DType::kF32) return std::make_unique<AnyKernel<T, float>>(args...);
    return std::make_unique<AnyKernel<T, T>>(args...);
  });
}

}  // namespace weft::norm

#endif  // WEFT_OPS_NORM_CPU_TYPES_H_
