// How a reduction is walked, and how it is cut into tasks: worked out from the
// shapes alone, when a kernel is created. For families with kernels that sum over some dims.
#ifndef WEFT_OPS_ABI_REDUCTION_H_
#define WEFT_OPS_ABI_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/dim_list.h"
#include "ops/abi/kernel.h"

namespace weft::reduce {

// A few dims of the input, walked in row-major order.
class Walk {
 public:
  // Adds a dim outside those that are there.
  void AddOuter(int64_t extent, int64_t stride);
  int64_t count() const { return count_; }
  struct Dim {
    int64_t extent, stride;
  };
  const std::vector<Dim>& dims() const { return dims_; }  // innermost first
  // Where, in the input, the index-th element of the walk lies.
  int64_t Offset(int64_t index) const {
    if (dims_.size() == 1) return index * dims_[0].stride;
    int64_t offset = 0;
    for (const Dim& dim : dims_) {  // innermost first
      offset += index % dim.extent * dim.stride;
      index /= dim.extent;
    }
    return offset;
  }

 private:
  std::vector<Dim> dims_;
  int64_t count_ = 1;
};

// The walk as GPU kernels get it; kUnimplemented if it has more than kMaxDims dims.
absl::Status SetDims(const Walk& walk, DimList& list);

// The input as kept x reduced x a row, where a row is the innermost group of
// neighbouring dims of one kind:
//  - reduced (rows_reduced): every row gives one number, and every kept index
//    one output;
//  - kept: rows are added up element by element, and every kept index gives
//    `row` outputs.
struct ReducePlan {
  Walk kept, reduced;
  int64_t row = 1;
  bool rows_reduced = false;
  int64_t outputs = 1;
  int64_t inputs = 1;

  // A kept index is cut into `columns` tasks of up to kColumns outputs each
  // (kept rows); the summands of a task into `parts`, whose results are
  // combined in order. A part is a range of `segments`: rows, or pieces of up
  // to kPiece elements of a row (reduced rows).
  static constexpr int64_t kColumns = 256;
  static constexpr int64_t kPiece = 8192;
  int64_t columns = 1;
  int64_t pieces = 1;
  int64_t segments = 1;
  int64_t parts = 1;
  int64_t tasks() const { return kept.count() * columns; }
  // Output i is the sum of the i-th row: nothing to look up.
  bool plain_rows() const { return rows_reduced && segments == 1; }
};

// Whether the attribute `dims` names it, of every dim of the first input; an error if it names others.
absl::StatusOr<std::vector<bool>> ReducedDims(const KernelSpec& spec);

// Of a tensor of these dims, without a look at a spec.
ReducePlan PlanOf(const std::vector<int64_t>& dims, const std::vector<bool>& reduced);

// Checks the spec of a reduction over the dims of attribute `dims`.
absl::StatusOr<ReducePlan> MakeReducePlan(const KernelSpec& spec);

}  // namespace weft::reduce

#endif  // WEFT_OPS_ABI_REDUCTION_H_
