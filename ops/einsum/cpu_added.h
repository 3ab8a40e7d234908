// Einsums that are added to what is in their result, on the host.
#ifndef WEFT_OPS_EINSUM_CPU_ADDED_H_
#define WEFT_OPS_EINSUM_CPU_ADDED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/einsum/cpu_product.h"

namespace weft::einsum {

// Makes an `einsum` that writes its result, or adds to what is there.
using EinsumFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(const KernelSpec& spec, Into into);

// `accumulate_einsum`, with inputs left, right and the sum, which is the output too: the product in the first
// micro-batch, in others the sum with the product added. Gives the bits of `einsum` and then `accumulate`.
absl::StatusOr<std::unique_ptr<Kernel>> CreateAccumulated(const KernelSpec& spec, EinsumFactory einsum);

// An `einsum` of a float32 result that adds its third input, of which the result may be a view. Gives the bits of
// `einsum` and then `add`.
absl::StatusOr<std::unique_ptr<Kernel>> CreateAdded(const KernelSpec& spec, EinsumFactory einsum);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_ADDED_H_
