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

// How one sample is seen: its image, moved up by `down` and left by `right` pixels, and 0 where none is left; then
// mirrored or not, brighter or darker, with more contrast or less.
struct View {
  int64_t down = 0;
  int64_t right = 0;
  bool mirrored = false;
  // Of the part that becomes as large as the image, by bilinear interpolation between the centres of pixels; 0: none
  // does.
  int64_t height = 0;
  int64_t width = 0;
  // A pixel p becomes contrast (brightness p - m) + m, where m is brightness times the mean of the record. Bytes end
  // at 0 and 255.
  float brightness = 1;
  float contrast = 1;
};

// The view of sample `sample` of a run, an image of height x width: a function of the run's seed, the number
// `augmentation.view` and the sample's place in the run, which says the epoch too. So it is the same in every layout,
// at resume, and for all fields of the sample that are augmented alike.
View ViewOf(const Augmentation& augmentation, uint64_t seed, int64_t sample, int64_t height, int64_t width);

// kInvalidArgument unless the input, `spec`, holds images, [rows, ..., height, width], the padding is less than
// they are large, and what computes with pixels has bytes or f32.
absl::Status CheckAugmentation(const Augmentation& augmentation, const TensorSpec& spec);

// Writes the view of a record's image to `out`, as the part of it that the tile `spec` has in one row, and moves `out`
// behind it. False if a number has no such value, see Conversion.
bool CopyView(const View& view, const Array& array, int64_t record, const TensorSpec& spec, uint8_t*& out);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_AUGMENT_H_
