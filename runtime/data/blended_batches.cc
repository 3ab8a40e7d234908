#include "runtime/data/blended_batches.h"

#include <algorithm>

namespace weft::data {

absl::Status BlendedBatches::Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                                  void* out) const {
  if (absl::Status status = Check(spec, field); !status.ok()) return status;
  const absl::StatusOr<int64_t> first = sets_[0]->order().First(spec, field, step, micro_batch);
  if (!first.ok()) return first.status();
  auto* const ids = static_cast<int32_t*>(out);
  const int64_t rows = sets_[0]->order().RowsOf(spec, micro_batch);
  for (int64_t row = 0; row < rows; ++row) {
    const Blend::Sample sample = blend_.At(*first + row);
    sets_[sample.set]->CopySample(sample.index, spec, field, ids + row * spec.dims[1]);
  }
  std::fill(ids + rows * spec.dims[1], ids + spec.elements(), 0);
  return absl::OkStatus();
}

}  // namespace weft::data
