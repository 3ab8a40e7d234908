// An op of the global graph as a call of its kernel, as the compiler would emit it.
#ifndef WEFT_TESTS_SHARDING_KERNEL_CALL_H_
#define WEFT_TESTS_SHARDING_KERNEL_CALL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/dialect/weft.h"

namespace weft::tests {

// kInvalid for a type that no tensor of a plan has.
DType DTypeOf(mlir::Type element);

// The unsplit tensor of a ranked type.
TensorSpec WholeSpec(mlir::Type tensor);

// The kernel of `op` on these tiles. Fails on an attribute that the plan has no form for.
absl::StatusOr<KernelSpec> SpecOf(mlir::Operation* op, std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs,
                                  std::vector<int64_t> coordinates);

}  // namespace weft::tests

#endif  // WEFT_TESTS_SHARDING_KERNEL_CALL_H_
