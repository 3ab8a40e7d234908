#include "runtime/data/blended_batches.h"

namespace weft::data {

absl::Status BlendedBatches::Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                                  void* out) const {
  if (absl::Status status = Check(spec, field); !status.ok()) return status;
  const absl::StatusOr<int64_t> first = sets_[0]->order().First(spec, field, step, micro_batch);
  if (!first.ok()) return first.status();
  for (int64_t row = 0; row < spec.dims[0]; ++row) {
    const Blend::Sample sample = blend_.At(*first + row);
    sets_[sample.set]->CopySample(sample.index, spec, field, static_cast<int32_t*>(out) + row * spec.dims[1]);
  }
  return absl::OkStatus();
}

}  // namespace weft::data
