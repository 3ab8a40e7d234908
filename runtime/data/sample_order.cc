#include "runtime/data/sample_order.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::data {

absl::Status SampleOrder::Check(const TensorSpec& spec, const std::string& field) const {
  if (spec.rank() < 1 || spec.global_dims[0] < 1 || spec.global_dims[0] > options_.global_batch) {
    return absl::InvalidArgumentError(absl::StrCat("`", field, "`: expected 1 to ", options_.global_batch,
                                                   " rows, of the samples of a step, got ",
                                                   spec.rank() < 1 ? "a scalar" : absl::StrCat(spec.global_dims[0])));
  }
  for (int64_t d = 0; d < spec.rank(); ++d) {
    if (spec.origin[d] < 0 || spec.dims[d] < 0 || spec.origin[d] + spec.dims[d] > spec.global_dims[d]) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", field, "`: expected a tile inside the tensor, got ", spec.ToString()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SampleOrder::First(const TensorSpec& spec, const std::string& field, int64_t step,
                                           int64_t micro_batch) const {
  const int64_t rows = spec.global_dims[0], micro_batches = (options_.global_batch + rows - 1) / rows;
  if (step < 0 || micro_batch < 0 || micro_batch >= micro_batches) {
    return absl::InvalidArgumentError(absl::StrCat("`", field, "`: expected micro-batch 0 to ", micro_batches - 1,
                                                   " of a step from 0, got ", micro_batch, " of step ", step));
  }
  return step * options_.global_batch + micro_batch * rows + spec.origin[0];
}

int64_t SampleOrder::RowsOf(const TensorSpec& spec, int64_t micro_batch) const {
  const int64_t left = options_.global_batch - micro_batch * spec.global_dims[0] - spec.origin[0];
  return std::clamp<int64_t>(left, 0, spec.dims[0]);
}

}  // namespace weft::data
