// What the kernels of every device ask of a spec.
#ifndef WEFT_OPS_OPTIMIZER_CHECK_SPEC_H_
#define WEFT_OPS_OPTIMIZER_CHECK_SPEC_H_

#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "ops/abi/kernel.h"

namespace weft::optimizer {

// Tensors of f32, bf16 or f16, and a float32 scalar.
absl::Status CheckSquares(const KernelSpec& spec);

// Reads attributes of these names. kInvalidArgument where one is absent.
absl::Status ReadNumbers(const KernelSpec& spec, std::initializer_list<std::pair<const char*, double*>> numbers);

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_CHECK_SPEC_H_
