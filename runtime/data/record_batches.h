// Records of named arrays, one array a field.
#ifndef WEFT_RUNTIME_DATA_RECORD_BATCHES_H_
#define WEFT_RUNTIME_DATA_RECORD_BATCHES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/data/array.h"
#include "runtime/data/look.h"
#include "runtime/data/record_shards.h"
#include "runtime/data/sample_order.h"
#include "runtime/data/sample_set.h"
#include "runtime/plan/job.pb.h"

namespace weft::data {

// What a look at the ids of an array finds: of over `limit` bytes only parts are looked at.
struct IdLook {
  Extremes ids;  // positions are records
  bool whole = true;
};
// `array` holds integers; ids equal to `skip` do not count.
IdLook LookAtIds(const Array& array, int64_t skip, int64_t limit = kLookBytes);

// Owns its arrays.
class RecordBatches : public SampleSet {
 public:
  using Fields = std::map<std::string, RecordShards>;  // by name; at least one

  using Augmentations = std::map<std::string, Augmentation>;  // by field, of those that are varied

  // kInvalidArgument: fields of different numbers of records, or fewer than a step takes, whose records would be the
  // same ones again; an augmentation of no field.
  static absl::StatusOr<std::unique_ptr<RecordBatches>> Create(Fields fields, const SampleOrder::Options& options,
                                                               Augmentations augmentations = {});

  // spec has global dims [rows, the array's others...] and a type that ConversionOf knows, and rows divides B; every
  // dimension may be split. Dimensions of one element may be missing in either. What is augmented holds images.
  absl::Status Check(const TensorSpec& spec, const std::string& field) const override;
  absl::Status CopySample(int64_t sample, const TensorSpec& spec, const std::string& field, void* out) const override;
  const SampleOrder& order() const override { return order_; }

  int64_t records() const { return order_.records(); }
  const Fields& fields() const { return fields_; }
  // "images u8[28,28], labels u8".
  std::string form() const;
  // Of what every field is called and holds, wherever it lies; of large arrays, of parts.
  uint64_t Hash() const;

 private:
  RecordBatches(Fields fields, const SampleOrder::Options& options, int64_t records, Augmentations augmentations)
      : fields_(std::move(fields)),
        order_(records, options),
        seed_(options.seed),
        augmentations_(std::move(augmentations)) {}

  const Fields fields_;
  const SampleOrder order_;
  const uint64_t seed_;
  const Augmentations augmentations_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_RECORD_BATCHES_H_
