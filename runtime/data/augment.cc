#include "runtime/data/augment.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"

namespace weft::data {
namespace {

// Keeps the draws of views apart from the order of samples.
constexpr uint64_t kViewSeed = 0x56696577;  // "View"

// From -padding to padding, each as likely as the others up to 2^-32.
int64_t Shift(uint32_t word, int64_t padding) {
  return static_cast<int64_t>((static_cast<uint64_t>(word) * (2 * padding + 1)) >> 32) - padding;
}

void Mirror(uint8_t* elements, int64_t count, int64_t bytes) {
  for (int64_t a = 0, b = count - 1; a < b; ++a, --b) {
    std::swap_ranges(elements + a * bytes, elements + (a + 1) * bytes, elements + b * bytes);
  }
}

// Copies images into a tile, row of pixels by row.
class ViewCopy {
 public:
  ViewCopy(const View& view, const Array& array, const TensorSpec& spec)
      : view_(view),
        array_(array),
        spec_(spec),
        convert_(ConversionOf(*array.type, spec.dtype)),
        bytes_(static_cast<int64_t>(SizeOf(spec.dtype))) {}

  // The images of dimension `d` on, element `at` of the array being their first; moves `out` on.
  bool Copy(int64_t d, int64_t at, uint8_t*& out) const {
    if (d == spec_.rank() - 2) return CopyImage(at, out);
    int64_t inner = 1;
    for (int64_t i = d + 1; i < spec_.rank(); ++i) inner *= spec_.global_dims[i];
    bool fit = true;
    for (int64_t i = 0; i < spec_.dims[d]; ++i) fit &= Copy(d + 1, at + (spec_.origin[d] + i) * inner, out);
    return fit;
  }

 private:
  bool CopyImage(int64_t at, uint8_t*& out) const {
    const int64_t d = spec_.rank() - 2, height = spec_.global_dims[d], width = spec_.global_dims[d + 1];
    bool fit = true;
    for (int64_t i = 0; i < spec_.dims[d]; ++i, out += spec_.dims[d + 1] * bytes_) {
      const int64_t y = spec_.origin[d] + i + view_.down;
      if (y < 0 || y >= height) {
        std::memset(out, 0, spec_.dims[d + 1] * bytes_);
      } else {
        fit &= CopyPixels(at + y * width, out);
      }
    }
    return fit;
  }

  // The tile's part of one row of pixels, which begins at element `row`.
  bool CopyPixels(int64_t row, uint8_t* out) const {
    const int64_t d = spec_.rank() - 1, width = spec_.global_dims[d], count = spec_.dims[d];
    // Pixel i of the part is pixel first + i of the row, or, mirrored, first + count - 1 - i.
    int64_t first = spec_.origin[d] + view_.right;
    if (view_.mirrored) first = width - first - count;
    const int64_t begin = std::clamp<int64_t>(-first, 0, count), end = std::clamp<int64_t>(width - first, begin, count);
    std::memset(out, 0, begin * bytes_);
    const bool fit =
        convert_(array_.data + (row + first + begin) * array_.type->bytes, end - begin, out + begin * bytes_);
    std::memset(out + end * bytes_, 0, (count - end) * bytes_);
    if (view_.mirrored) Mirror(out, count, bytes_);
    return fit;
  }

  const View& view_;
  const Array& array_;
  const TensorSpec& spec_;
  const Conversion convert_;
  const int64_t bytes_;  // of an element of the tile
};

}  // namespace

View ViewOf(const Augmentation& augmentation, uint64_t seed, int64_t sample) {
  const PhiloxBlock dice = Philox(MixSeed(seed, kViewSeed), static_cast<uint64_t>(sample), 0);
  const int64_t padding = augmentation.crop_padding();
  return {Shift(dice[0], padding), Shift(dice[1], padding), augmentation.flip() && (dice[2] & 1) != 0};
}

absl::Status CheckAugmentation(const Augmentation& augmentation, const TensorSpec& spec) {
  const std::string what = absl::StrCat("data.augment of `", augmentation.field(), "`: expected ");
  if (spec.rank() < 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, "images, [batch, ..., height, width], got an input ", spec.ToString()));
  }
  const int64_t padding = augmentation.crop_padding(), height = spec.global_dims[spec.rank() - 2],
                width = spec.global_dims[spec.rank() - 1];
  if (padding >= 0 && padding < std::min(height, width)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, "a crop_padding from 0 to ", std::min(height, width) - 1,
                                                 ", for images of ", height, " x ", width, ", got ", padding));
}

bool CopyView(const View& view, const Array& array, int64_t record, const TensorSpec& spec, uint8_t*& out) {
  return ViewCopy(view, array, spec).Copy(1, record * array.elements(), out);
}

}  // namespace weft::data
