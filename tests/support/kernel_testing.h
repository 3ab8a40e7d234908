// Runs one kernel on plain vectors: for tests of kernels.
#ifndef WEFT_TESTS_SUPPORT_KERNEL_TESTING_H_
#define WEFT_TESTS_SUPPORT_KERNEL_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/abi/registry.h"

namespace weft::testing {

// A tensor's elements in row-major order; every element type that kernels take
// converts to double exactly.
using Values = std::vector<double>;

// A tile of a global tensor.
TensorSpec Tile(DType dtype, std::vector<int64_t> dims, std::vector<int64_t> global_dims, std::vector<int64_t> origin);

// Creates the kernel and runs it once. Inputs are rounded to their element
// type; outputs start as NaN. A pair (i, o) of `in_place` gives input i and
// output o one address. Fails if the kernel does, or if it writes beyond an
// output or into an input that is not in place.
absl::StatusOr<std::vector<Values>> RunKernel(const KernelRegistry& registry, const KernelSpec& spec,
                                              const std::vector<Values>& inputs, const RunContext& context = {},
                                              const std::vector<std::pair<int, int>>& in_place = {});

// The same with a kernel of that spec.
absl::StatusOr<std::vector<Values>> RunKernel(Kernel& kernel, const KernelSpec& spec, const std::vector<Values>& inputs,
                                              const RunContext& context = {},
                                              const std::vector<std::pair<int, int>>& in_place = {});

// What follows a tensor of RunKernel() in memory, and must stay as it was.
inline constexpr size_t kGuardBytes = 64;

// `n` numbers in [low, high), a function of `seed`, each exact in `dtype`.
Values RandomValues(int64_t n, uint64_t seed, double low = -1, double high = 1, DType dtype = DType::kF32);

// The part of `whole` (a tensor of global_dims) that `tile` holds.
Values SliceOf(const Values& whole, const TensorSpec& tile);

// The index in a tensor of `dims` of what is broadcast, shapes aligned at the last dim, to element `index` of `result`.
int64_t BroadcastIndex(int64_t index, const std::vector<int64_t>& result, const std::vector<int64_t>& dims);

}  // namespace weft::testing

#endif  // WEFT_TESTS_SUPPORT_KERNEL_TESTING_H_
