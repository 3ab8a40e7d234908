// What becomes of images before a model sees them.
#ifndef WEFT_RUNTIME_DATA_AUGMENT_H_
#define WEFT_RUNTIME_DATA_AUGMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/data/array.h"
#include "runtime/plan/job.pb.h"

namespace weft::data {

// How one sample is seen: its image, mirrored or not, moved up by `down` and left by `right` pixels, and 0 where none
// is left.
struct View {
  int64_t down = 0;
  int64_t right = 0;
  bool mirrored = false;
};

// The view of sample `sample` of a run: a function of the run's seed and the sample's place in the run, which says the
// epoch too. So it is the same in every layout, at resume, and for all fields of the sample that are augmented alike.
View ViewOf(const Augmentation& augmentation, uint64_t seed, int64_t sample);

// kInvalidArgument unless the input, `spec`, holds images, [rows, ..., height, width], and the padding is less than
// they are large.
absl::Status CheckAugmentation(const Augmentation& augmentation, const TensorSpec& spec);

// Writes the view of a record's image to `out`, as the part of it that the tile `spec` has in one row, and moves `out`
// behind it. False if a number has no such value, see Conversion.
bool CopyView(const View& view, const Array& array, int64_t record, const TensorSpec& spec, uint8_t*& out);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_AUGMENT_H_
