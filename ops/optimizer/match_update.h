// The form of an update's spec, and the numbers of the rules: for the kernels of every device.
#ifndef WEFT_OPS_OPTIMIZER_MATCH_UPDATE_H_
#define WEFT_OPS_OPTIMIZER_MATCH_UPDATE_H_

#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::optimizer {

// f32, bf16 or f16.
absl::Status CheckGradient(const TensorSpec& gradient);

// Tensors of these types, and a float32 scalar.
absl::Status CheckSquares(const KernelSpec& spec);

// The elements of the parameter. Inputs: `p`, `g` (f32, bf16 or f16), `state` tensors, `lr`, `grad_scale` and, where
// there is one more, `step`; outputs: the next `p` and state. kInvalidArgument where the spec is not so. Any thread.
absl::StatusOr<int64_t> MatchUpdate(const KernelSpec& spec, int state);

// Reads attributes of these names; `weight_decay` and `decoupled` are 0 where they are absent. kInvalidArgument where
// another is absent, or where a `beta` is not at least 0 and less than 1.
absl::Status ReadNumbers(const KernelSpec& spec, std::initializer_list<std::pair<const char*, double*>> numbers);

struct AdamNumbers {
  double beta1 = 0, beta2 = 0, eps = 0, weight_decay = 0;
  double decoupled = 0;  // not 0: AdamW

  static absl::StatusOr<AdamNumbers> Read(const KernelSpec& spec);
};

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_MATCH_UPDATE_H_
