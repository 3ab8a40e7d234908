// Samples of several sets, in given parts.
#ifndef WEFT_RUNTIME_DATA_BLENDED_BATCHES_H_
#define WEFT_RUNTIME_DATA_BLENDED_BATCHES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/blend.h"
#include "runtime/data/data_set.h"
#include "runtime/data/sample_set.h"

namespace weft::data {

// Sample i of the run is the next one of the set that the blend names for i. Owns the sets.
class BlendedBatches : public DataSet {
 public:
  // As many sets as the blend has, of one batch.
  BlendedBatches(std::vector<std::unique_ptr<SampleSet>> sets, Blend blend)
      : sets_(std::move(sets)), blend_(std::move(blend)) {}

  absl::Status Check(const TensorSpec& spec, const std::string& field) const override;
  absl::Status Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                    void* out) const override;

 private:
  const std::vector<std::unique_ptr<SampleSet>> sets_;
  const Blend blend_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_BLENDED_BATCHES_H_
