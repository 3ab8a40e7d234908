// What the kernels of this family work out when they are created, on all devices.
#ifndef WEFT_OPS_GATHER_PROBLEM_H_
#define WEFT_OPS_GATHER_PROBLEM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::gather {

// A table [batch, outer, count, inner], ids [batch, positions] and the rows that they name, [batch, outer, positions,
// inner]. The table has rows `begin` and on of `size`.
struct GatherProblem {
  int64_t batch = 1, outer = 1, positions = 1, inner = 1;
  int64_t size = 0, begin = 0, count = 0;
  DType type = DType::kInvalid;  // of the elements
  bool wide_ids = false;         // i64, not i32

  int64_t positions_of_all() const { return batch * positions; }
  int64_t rows_of_all() const { return batch * count; }
  int64_t row_bytes() const { return inner * static_cast<int64_t>(SizeOf(type)); }
};

// Checks that the tiles of `spec` fit one another and its attributes `dim` and `batch` (0 if absent).
absl::StatusOr<GatherProblem> MakeProblem(const KernelSpec& spec, const TensorSpec& table, const TensorSpec& ids,
                                          const TensorSpec& rows);

// kInvalidArgument unless the positions of `ids` are whole.
absl::Status CheckWholePositions(const KernelSpec& spec, const TensorSpec& ids);

}  // namespace weft::gather

#endif  // WEFT_OPS_GATHER_PROBLEM_H_
