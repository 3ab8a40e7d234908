// The mask of a dropout on a GPU, from the attributes `rate` and `seed`.
#ifndef WEFT_OPS_ABI_DROPOUT_MASK_H_
#define WEFT_OPS_ABI_DROPOUT_MASK_H_

#include "absl/status/statusor.h"
#include "ops/abi/gpu_dropout.h"
#include "ops/abi/kernel.h"

namespace weft {

// What is known when a kernel is created. A value: copies are independent.
class DropoutMaskSource {
 public:
  // Of a dropout of `x`. kInvalidArgument for a rate that is not in [0, 1), and for absent attributes.
  static absl::StatusOr<DropoutMaskSource> Create(const KernelSpec& spec, const TensorSpec& x);

  // Of one act.
  DropoutMask MaskFor(const RunContext& context) const;

 private:
  DropoutMask mask_ = {};
  uint64_t seed_ = 0;
  int64_t elements_ = 0;  // of the whole tensor
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_DROPOUT_MASK_H_
