// Where the padding of a tile lies, on all devices.
#ifndef WEFT_OPS_PADDING_PLAN_H_
#define WEFT_OPS_PADDING_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::padding {

// `count` rows of `elements`, the first at `offset`, `stride` apart: what lies beyond the extent of one dim.
struct Rows {
  int64_t count, offset, elements, stride;
};

class PaddingPlan {
 public:
  // Checks the spec of a set_padding.
  static absl::StatusOr<PaddingPlan> Create(const KernelSpec& spec);

  // The bytes of the number, in the lowest ones of a word.
  uint64_t word() const { return word_; }

  // What lies beyond the extents in this micro-batch, for each dim: in the corners, rows of several dims meet.
  std::vector<Rows> RowsOf(int64_t micro_batch) const;

 private:
  TensorSpec tile_;
  std::vector<int64_t> extents_;  // of the whole tensor
  std::optional<int64_t> batch_;  // what all micro-batches have along that dim
  int64_t along_ = 0;
  uint64_t word_ = 0;
};

}  // namespace weft::padding

#endif  // WEFT_OPS_PADDING_PLAN_H_
