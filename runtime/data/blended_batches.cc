#include "runtime/data/blended_batches.h"

namespace weft::data {

absl::Status BlendedBatches::Check(const TensorSpec& spec, const std::string& field) const {
  for (const auto& set : sets_) {
    if (absl::Status status = set->Check(spec, field); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status BlendedBatches::Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                                  void* out) const {
  return sets_[0]->FillRows(spec, field, step, micro_batch, out, [&](int64_t index, void* row) {
    const Blend::Sample sample = blend_.At(index);
    return sets_[sample.set]->CopySample(sample.index, spec, field, row);
  });
}

}  // namespace weft::data
