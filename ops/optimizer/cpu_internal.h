// The parts of the family's registration.
#ifndef WEFT_OPS_OPTIMIZER_CPU_INTERNAL_H_
#define WEFT_OPS_OPTIMIZER_CPU_INTERNAL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/dtype.h"
#include "ops/abi/kernel.h"
#include "ops/abi/registry.h"

namespace weft::optimizer {

inline float Widen(float x) { return x; }
inline float Widen(BFloat16 x) { return ToFloat(x); }
inline float Widen(Float16 x) { return ToFloat(x); }

// A Kernel for the element type of `gradient`, f32, bf16 or f16.
template <template <typename> typename Kernel, typename... Args>
absl::StatusOr<std::unique_ptr<weft::Kernel>> MakeFor(const TensorSpec& gradient, Args... args) {
  switch (gradient.dtype) {
    case DType::kF32:
      return std::make_unique<Kernel<float>>(args...);
    case DType::kBF16:
      return std::make_unique<Kernel<BFloat16>>(args...);
    case DType::kF16:
      return std::make_unique<Kernel<Float16>>(args...);
    default:
      return absl::InvalidArgumentError(absl::StrCat("gradient: expected f32, bf16 or f16, got ", gradient.ToString()));
  }
}

void RegisterScalars(KernelRegistry& registry);
void RegisterUpdates(KernelRegistry& registry);

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_CPU_INTERNAL_H_
