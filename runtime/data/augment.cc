#include "runtime/data/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

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

// From 0 to end - 1, likewise.
int64_t Below(uint32_t word, int64_t end) {
  return static_cast<int64_t>((static_cast<uint64_t>(word) * static_cast<uint64_t>(end)) >> 32);
}

double Between(uint32_t word, double low, double high) { return low + (high - low) * UniformFloat(word); }

// A part of random area and shape at a random place, as torchvision's RandomResizedCrop draws it: what does not fit
// into the image is drawn again, ten times, and then a part in the middle is taken.
void DrawPart(const ResizedCrop& crop, uint64_t key, int64_t sample, int64_t height, int64_t width, View& view) {
  constexpr uint64_t kFirst = 2, kTries = 10;
  const double area = static_cast<double>(height) * static_cast<double>(width);
  for (uint64_t attempt = 0; attempt < kTries; ++attempt) {
    const PhiloxBlock dice = Philox(key, static_cast<uint64_t>(sample), kFirst + attempt);
    const double target = area * Between(dice[0], crop.min_area(), crop.max_area());
    const double ratio = std::exp(Between(dice[1], std::log(crop.min_ratio()), std::log(crop.max_ratio())));
    view.width = std::lround(std::sqrt(target * ratio));
    view.height = std::lround(std::sqrt(target / ratio));
    if (view.width < 1 || view.height < 1 || view.width > width || view.height > height) continue;
    view.down = Below(dice[2], height - view.height + 1);
    view.right = Below(dice[3], width - view.width + 1);
    return;
  }
  const double shape = static_cast<double>(width) / static_cast<double>(height);
  view.height = height;
  view.width = width;
  if (shape < crop.min_ratio()) {
    view.height = std::clamp<int64_t>(std::lround(static_cast<double>(width) / crop.min_ratio()), 1, height);
  } else if (shape > crop.max_ratio()) {
    view.width = std::clamp<int64_t>(std::lround(static_cast<double>(height) * crop.max_ratio()), 1, width);
  }
  view.down = (height - view.height) / 2;
  view.right = (width - view.width) / 2;
}

// Where element `at` of `count` lies among the `part` ones that become as many: between `low` and the next one,
// `weight` of the way there.
struct Spot {
  Spot(int64_t at, int64_t count, int64_t part) {
    const double place = (static_cast<double>(at) + 0.5) * static_cast<double>(part) / static_cast<double>(count) - 0.5;
    const double inside = std::clamp(place, 0.0, static_cast<double>(part - 1));
    low = static_cast<int64_t>(inside);
    next = std::min(low + 1, part - 1);
    weight = static_cast<float>(inside - static_cast<double>(low));
  }
  int64_t low, next;
  float weight;
};

float Mix(float a, float b, float weight) { return a + (b - a) * weight; }

// Of a pixel's type, which is uint8_t or float.
template <typename Pixel>
Pixel Rounded(float value) {
  if constexpr (std::is_same_v<Pixel, uint8_t>) {
    return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
  } else {
    return value;
  }
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
        bytes_(static_cast<int64_t>(SizeOf(spec.dtype))) {
    if (view.height == 0) return;
    const int64_t d = spec.rank() - 1, width = spec.global_dims[d];
    for (int64_t j = 0; j < spec.dims[d]; ++j) {
      const int64_t x = spec.origin[d] + j;
      columns_.emplace_back(view.mirrored ? width - 1 - x : x, width, view.width);
    }
    for (auto& row : rows_) row.resize(static_cast<size_t>(view.width * bytes_));
  }

  // Of a whole record, in the input's type, from element `at` of the array on; false as of Conversion.
  template <typename Pixel>
  bool AddTo(int64_t at, double& sum) const {
    constexpr int64_t kPiece = 4096;
    Pixel piece[kPiece];
    bool fit = true;
    for (int64_t i = 0; i < array_.elements(); i += kPiece) {
      const int64_t count = std::min(kPiece, array_.elements() - i);
      fit &= convert_(array_.data + (at + i) * array_.type->bytes, count, piece);
      for (int64_t j = 0; j < count; ++j) sum += piece[j];
    }
    return fit;
  }

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
    if (view_.height > 0) return spec_.dtype == DType::kU8 ? Enlarge<uint8_t>(at, out) : Enlarge<float>(at, out);
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

  template <typename Pixel>
  bool Enlarge(int64_t at, uint8_t*& out) const {
    const int64_t d = spec_.rank() - 2, height = spec_.global_dims[d], width = spec_.global_dims[d + 1];
    const auto* const above = reinterpret_cast<const Pixel*>(rows_[0].data());
    const auto* const below = reinterpret_cast<const Pixel*>(rows_[1].data());
    bool fit = true;
    for (int64_t i = 0; i < spec_.dims[d]; ++i) {
      const Spot y(spec_.origin[d] + i, height, view_.height);
      const auto read = [&](int64_t row, std::vector<uint8_t>& to) {
        const int64_t first = at + (view_.down + row) * width + view_.right;
        fit &= convert_(array_.data + first * array_.type->bytes, view_.width, to.data());
      };
      read(y.low, rows_[0]);
      read(y.next, rows_[1]);
      for (const Spot& x : columns_) {
        const float value =
            Mix(Mix(above[x.low], above[x.next], x.weight), Mix(below[x.low], below[x.next], x.weight), y.weight);
        const auto pixel = Rounded<Pixel>(value);
        std::memcpy(out, &pixel, sizeof(pixel));
        out += sizeof(pixel);
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
  // Where a part is enlarged: of each column of the tile, and two rows of the part.
  std::vector<Spot> columns_;
  mutable std::vector<uint8_t> rows_[2];
};

// Brightness and contrast of the pixels [begin, end) of a record that begins at element `at` of its array.
template <typename Pixel>
bool Light(const View& view, const ViewCopy& copy, const Array& array, int64_t at, uint8_t* begin, const uint8_t* end) {
  double sum = 0;
  const bool fit = view.contrast == 1 || copy.AddTo<Pixel>(at, sum);
  const float middle = view.brightness * static_cast<float>(sum / static_cast<double>(array.elements()));
  for (; begin < end; begin += sizeof(Pixel)) {
    Pixel pixel;
    std::memcpy(&pixel, begin, sizeof(pixel));
    const float bright = view.brightness * pixel;
    pixel = Rounded<Pixel>(view.contrast == 1 ? bright : view.contrast * (bright - middle) + middle);
    std::memcpy(begin, &pixel, sizeof(pixel));
  }
  return fit;
}

}  // namespace

View ViewOf(const Augmentation& augmentation, uint64_t seed, int64_t sample, int64_t height, int64_t width) {
  const uint64_t key = MixSeed(seed, kViewSeed + static_cast<uint64_t>(augmentation.view()));
  const PhiloxBlock dice = Philox(key, static_cast<uint64_t>(sample), 0),
                    light = Philox(key, static_cast<uint64_t>(sample), 1);
  const int64_t padding = augmentation.crop_padding();
  View view = {Shift(dice[0], padding), Shift(dice[1], padding), augmentation.flip() && (dice[2] & 1) != 0};
  if (augmentation.has_resized_crop()) DrawPart(augmentation.resized_crop(), key, sample, height, width, view);
  const auto factor = [](uint32_t word, double by) { return static_cast<float>(Between(word, 1 - by, 1 + by)); };
  view.brightness = factor(light[0], augmentation.brightness());
  view.contrast = factor(light[1], augmentation.contrast());
  return view;
}

absl::Status CheckAugmentation(const Augmentation& augmentation, const TensorSpec& spec) {
  const std::string what = absl::StrCat("data.augment of `", augmentation.field(), "`: expected ");
  if (spec.rank() < 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, "images, [batch, ..., height, width], got an input ", spec.ToString()));
  }
  const int64_t padding = augmentation.crop_padding(), height = spec.global_dims[spec.rank() - 2],
                width = spec.global_dims[spec.rank() - 1];
  if (padding < 0 || padding >= std::min(height, width)) {
    return absl::InvalidArgumentError(absl::StrCat(what, "a crop_padding from 0 to ", std::min(height, width) - 1,
                                                   ", for images of ", height, " x ", width, ", got ", padding));
  }
  if (augmentation.has_resized_crop() && padding > 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, "crop_padding or resized_crop, got both"));
  }
  for (const auto& [name, by] :
       {std::pair("brightness", augmentation.brightness()), std::pair("contrast", augmentation.contrast())}) {
    if (!(by >= 0 && by <= 1)) {
      return absl::InvalidArgumentError(absl::StrCat(what, "a ", name, " from 0 to 1, got ", by));
    }
  }
  const bool computes = augmentation.has_resized_crop() || augmentation.brightness() > 0 || augmentation.contrast() > 0;
  if (computes && spec.dtype != DType::kU8 && spec.dtype != DType::kF32) {
    return absl::InvalidArgumentError(absl::StrCat(what, "u8 or f32, to compute with, got an input ", spec.ToString()));
  }
  return absl::OkStatus();
}

bool CopyView(const View& view, const Array& array, int64_t record, const TensorSpec& spec, uint8_t*& out) {
  const int64_t at = record * array.elements();
  const ViewCopy copy(view, array, spec);
  uint8_t* const begin = out;
  const bool fit = copy.Copy(1, at, out);
  if (view.brightness == 1 && view.contrast == 1) return fit;
  return (spec.dtype == DType::kU8 ? Light<uint8_t>(view, copy, array, at, begin, out)
                                   : Light<float>(view, copy, array, at, begin, out)) &&
         fit;
}

}  // namespace weft::data
