// What the layout kernels of all devices work out when they are created: whether
// the spec fits, and what lies where. Offsets, strides and sizes are
// bytes unless it says otherwise.
#ifndef WEFT_OPS_LAYOUT_PLAN_H_
#define WEFT_OPS_LAYOUT_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::layout {

// One input and one output of the same element type.
absl::Status CheckSameType(const KernelSpec& spec);

// copy: of the same shape too; reshape: of as many elements.
absl::Status CheckCopy(const KernelSpec& spec);
absl::Status CheckReshape(const KernelSpec& spec);

// mask_rank: whether this rank keeps its value; the others hold 0, so that the sum
// over the ranks along `axes` is the value.
absl::StatusOr<bool> KeepsValue(const KernelSpec& spec);

// `count` rows of `bytes`, which are `stride` apart in the input, the first `offset` from its beginning.
struct SlicePlan {
  int64_t count, bytes, offset, stride;
};
absl::StatusOr<SlicePlan> PlanSlice(const KernelSpec& spec);

// `count` rows of `bytes`, with zeros before and after each in the output.
struct PadPlan {
  int64_t count, bytes, before, after;
};
absl::StatusOr<PadPlan> PlanPad(const KernelSpec& spec);

// `count` rows; those of the output are those of the inputs, `bytes` each, side by side.
struct ConcatPlan {
  int64_t count;
  std::vector<int64_t> bytes;
  int64_t stride;  // their sum
};
absl::StatusOr<ConcatPlan> PlanConcat(const KernelSpec& spec);

// A dim of a transpose's result; `from` and `to` are how many elements its steps are apart in input and output.
struct PermutedDim {
  int64_t extent = 1, from = 0, to = 0;
};
// The dims of the result, outermost first, neighbours in both tensors merged; none for one element.
absl::StatusOr<std::vector<PermutedDim>> PlanTranspose(const KernelSpec& spec);

// One dim of both tiles: the source covers [begin, end) of the target's extent; the target's index i is the
// source's i + shift.
struct TileDim {
  int64_t extent, begin, end, shift;
  int64_t from_stride;  // of the source
};
// A row of the target is its last dims that the source runs through alike, `unit` bytes, and the cut one before
// them; what the source does not cover is 0.
struct CopyTilePlan {
  TileDim row;
  int64_t unit;
  std::vector<TileDim> outer;  // innermost first
  int64_t rows = 1;            // of the target
};
absl::StatusOr<CopyTilePlan> PlanCopyTile(const KernelSpec& spec);

}  // namespace weft::layout

#endif  // WEFT_OPS_LAYOUT_PLAN_H_
