// What the kernels of grouped products work out when they are created, on all devices.
#ifndef WEFT_OPS_EINSUM_GROUPED_H_
#define WEFT_OPS_EINSUM_GROUPED_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::einsum {

// Rows [outer, rows, k], the same of m columns, counts [outer, groups], and matrices [count, k, m] of the groups from
// `begin` on; of those behind `groups`, which are padding, there are no rows.
struct GroupedProblem {
  int64_t outer = 1, rows = 0, k = 0, m = 0;
  int64_t groups = 0, begin = 0, count = 0;
  bool transposed = false;         // matrices are [count, m, k]
  DType type = DType::kInvalid;    // of the operands
  DType result = DType::kInvalid;  // that, or f32

  int64_t all_rows() const { return outer * rows; }
  int64_t matrix() const { return k * m; }  // elements
  // The groups of this rank that have rows: `count` but for padding.
  int64_t own() const { return count < groups - begin ? count : groups - begin; }
};

// Checks that the tiles of a `grouped_matmul`, or of a `grouped_outer`, fit one another.
absl::StatusOr<GroupedProblem> MakeGroupedMatmul(const KernelSpec& spec);
absl::StatusOr<GroupedProblem> MakeGroupedOuter(const KernelSpec& spec);

// What to say of a count that is below 0, or of the first one that goes beyond the rows; `where`: which of all counts.
absl::Status BadCount(const GroupedProblem& problem, int64_t where, int64_t count);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_GROUPED_H_
