// What the kernels of this family work out when they are created, on all devices.
#ifndef WEFT_OPS_SORT_PROBLEM_H_
#define WEFT_OPS_SORT_PROBLEM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/abi/lines.h"

namespace weft::sort {

// Of each line the first `kept` elements, in order.
struct SortProblem {
  Lines lines;
  int64_t kept = 0;
  bool descending = false;
  DType type = DType::kInvalid;
};

// Checks the spec of sort or of top_k, which has attribute `k`.
absl::StatusOr<SortProblem> MakeProblem(const KernelSpec& spec);

}  // namespace weft::sort

#endif  // WEFT_OPS_SORT_PROBLEM_H_
