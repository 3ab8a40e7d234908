#include "runtime/data/augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include "runtime/data/record_batches.h"

namespace weft::data {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kChannels = 2, kHeight = 3, kWidth = 5, kPixels = kChannels * kHeight * kWidth;

Augmentation Make(int64_t padding, bool flip) {
  Augmentation augmentation;
  augmentation.set_field("x");
  augmentation.set_crop_padding(padding);
  augmentation.set_flip(flip);
  return augmentation;
}

// Images whose pixels count up from 1.
Array Images(int64_t records) {
  auto bytes = std::make_shared<std::vector<uint8_t>>(records * kPixels);
  std::iota(bytes->begin(), bytes->end(), 1);
  return {.where = "x.npy",
          .type = TypeOfNumpy("|u1"),
          .shape = {records, kChannels, kHeight, kWidth},
          .data = bytes->data(),
          .owner = bytes};
}

TensorSpec Whole(int64_t rows) { return TensorSpec::Whole(DType::kU8, {rows, kChannels, kHeight, kWidth}); }

// One pixel of a view, looked up by the definition.
int Pixel(const Array& images, int64_t record, const View& view, int64_t channel, int64_t y, int64_t x) {
  y += view.down;
  x += view.right;
  if (y < 0 || y >= kHeight || x < 0 || x >= kWidth) return 0;
  if (view.mirrored) x = kWidth - 1 - x;
  return images.data[record * kPixels + (channel * kHeight + y) * kWidth + x];
}

TEST(AugmentTest, EveryViewIsWhatItsDefinitionSays) {
  const Array images = Images(2);
  // A part of an image, in another type.
  const TensorSpec part = {DType::kF32, {1, 1, 2, 3}, {1, kChannels, kHeight, kWidth}, {0, 1, 1, 1}};
  for (int64_t case_ = 0; case_ < 5 * 9 * 2; ++case_) {
    const View view = {case_ / 18 - 2, case_ / 2 % 9 - 4, case_ % 2 == 1};
    std::vector<uint8_t> whole(kPixels, 255);
    std::vector<float> cut(6, -1);
    uint8_t *to = whole.data(), *to_cut = reinterpret_cast<uint8_t*>(cut.data());
    ASSERT_TRUE(CopyView(view, images, 1, Whole(1), to));
    ASSERT_TRUE(CopyView(view, images, 1, part, to_cut));
    EXPECT_EQ(to, whole.data() + kPixels);
    EXPECT_EQ(to_cut, reinterpret_cast<uint8_t*>(cut.data() + 6));
    for (int64_t i = 0; i < kPixels; ++i) {
      EXPECT_EQ(whole[i], Pixel(images, 1, view, i / (kHeight * kWidth), i / kWidth % kHeight, i % kWidth)) << case_;
    }
    for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(cut[i], Pixel(images, 1, view, 1, 1 + i / 3, 1 + i % 3)) << case_;
  }
}

TEST(AugmentTest, ViewsAreDrawnEvenlyForEachSampleAndSeed) {
  constexpr int64_t kSamples = 18000, kViews = 18;  // 3 x 3 shifts, mirrored or not
  std::map<std::tuple<int64_t, int64_t, bool>, int64_t> counts;
  int64_t alike = 0;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    const View view = ViewOf(Make(1, true), 5, sample, kHeight, kWidth),
               other = ViewOf(Make(1, true), 6, sample, kHeight, kWidth);
    ++counts[{view.down, view.right, view.mirrored}];
    alike += view.down == other.down && view.right == other.right && view.mirrored == other.mirrored;
  }
  EXPECT_EQ(counts.size(), kViews);
  // 1,000 of each, to five standard deviations: 5 sqrt(18000 / 18).
  for (const auto& [view, count] : counts) EXPECT_NEAR(count, kSamples / kViews, 160);
  EXPECT_NEAR(alike, kSamples / kViews, 160);
  const View still = ViewOf(Make(0, false), 5, 7, kHeight, kWidth);
  EXPECT_TRUE(still.down == 0 && still.right == 0 && !still.mirrored);
}

// ---- parts that are enlarged ------------------------------------------------------

Augmentation Resized(double min_area, double max_area, double min_ratio = 0.75, double max_ratio = 4.0 / 3) {
  Augmentation augmentation = Make(0, true);
  augmentation.mutable_resized_crop()->set_min_area(min_area);
  augmentation.mutable_resized_crop()->set_max_area(max_area);
  augmentation.mutable_resized_crop()->set_min_ratio(min_ratio);
  augmentation.mutable_resized_crop()->set_max_ratio(max_ratio);
  return augmentation;
}

// One pixel of a part of height x width that is enlarged, by the definition: the weights of the pixels whose centres
// are less than one away, those beyond the edge lying on it.
double Enlarged(const Array& images, int64_t record, const View& view, int64_t channel, int64_t y, int64_t x) {
  if (view.mirrored) x = kWidth - 1 - x;
  const auto weights = [](int64_t at, int64_t count, int64_t part) {
    const double centre = (at + 0.5) * part / count - 0.5;
    std::map<int64_t, double> found;
    for (int64_t i = -1; i <= part; ++i) {
      found[std::min(std::max<int64_t>(i, 0), part - 1)] += std::max(0.0, 1 - std::abs(centre - i));
    }
    return found;
  };
  double value = 0;
  for (const auto& [row, of_row] : weights(y, kHeight, view.height)) {
    for (const auto& [column, of_column] : weights(x, kWidth, view.width)) {
      const int64_t at = (channel * kHeight + view.down + row) * kWidth + view.right + column;
      value += of_row * of_column * images.data[record * kPixels + at];
    }
  }
  return value;
}

TEST(AugmentTest, APartIsEnlargedBetweenTheCentresOfPixels) {
  const Array images = Images(2);
  const TensorSpec part = {DType::kF32, {1, 1, 2, 3}, {1, kChannels, kHeight, kWidth}, {0, 1, 1, 1}};
  for (int64_t height = 1; height <= kHeight; ++height) {
    for (int64_t width = 1; width <= kWidth; ++width) {
      for (const bool mirrored : {false, true}) {
        const View view = {
            .down = kHeight - height, .right = kWidth - width, .mirrored = mirrored, .height = height, .width = width};
        std::vector<uint8_t> whole(kPixels, 255);
        std::vector<float> cut(6, -1);
        uint8_t *to = whole.data(), *to_cut = reinterpret_cast<uint8_t*>(cut.data());
        ASSERT_TRUE(CopyView(view, images, 1, Whole(1), to));
        ASSERT_TRUE(CopyView(view, images, 1, part, to_cut));
        EXPECT_EQ(to, whole.data() + kPixels);
        EXPECT_EQ(to_cut, reinterpret_cast<uint8_t*>(cut.data() + 6));
        for (int64_t i = 0; i < kPixels; ++i) {
          const double value = Enlarged(images, 1, view, i / (kHeight * kWidth), i / kWidth % kHeight, i % kWidth);
          EXPECT_NEAR(whole[i], value, 0.5 + 1e-4) << height << " x " << width;
        }
        for (int64_t i = 0; i < 6; ++i) {
          EXPECT_NEAR(cut[i], Enlarged(images, 1, view, 1, 1 + i / 3, 1 + i % 3), 1e-4) << height << " x " << width;
        }
      }
    }
  }
}

TEST(AugmentTest, PartsHaveTheAreasAndShapesThatAreAskedFor) {
  constexpr int64_t kSize = 200, kSamples = 2000;
  double area = 0;
  std::set<int64_t> places;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    const View view = ViewOf(Resized(0.2, 0.6), 5, sample, kSize, kSize);
    ASSERT_GE(view.down, 0);
    ASSERT_GE(view.right, 0);
    ASSERT_LE(view.down + view.height, kSize);
    ASSERT_LE(view.right + view.width, kSize);
    const double share = double(view.height * view.width) / (kSize * kSize), ratio = double(view.width) / view.height;
    EXPECT_GT(share, 0.2 - 0.01);
    EXPECT_LT(share, 0.6 + 0.01);
    EXPECT_GT(ratio, 0.75 - 0.02);
    EXPECT_LT(ratio, 4.0 / 3 + 0.02);
    area += share;
    places.insert(view.down);
  }
  // Even between 0.2 and 0.6, to five standard deviations.
  EXPECT_NEAR(area / kSamples, 0.4, 5 * 0.4 / std::sqrt(12.0 * kSamples));
  EXPECT_GT(places.size(), 60u);
  // A shape that does not fit: the widest in the middle.
  const View wide = ViewOf(Resized(1, 1, 3, 4), 5, 0, 90, 90);
  EXPECT_EQ(std::tuple(wide.down, wide.right, wide.height, wide.width), std::tuple(30, 0, 30, 90));
}

TEST(AugmentTest, ViewsOfDifferentNumbersAreIndependent) {
  constexpr int64_t kSamples = 1000;
  Augmentation one = Resized(0.2, 1), other = one;
  other.set_view(1);
  other.set_field("y");
  int64_t alike = 0;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    const View a = ViewOf(one, 5, sample, 64, 64), b = ViewOf(other, 5, sample, 64, 64);
    alike += a.down == b.down && a.right == b.right && a.height == b.height;
  }
  EXPECT_LT(alike, kSamples / 50);
  other.set_view(0);
  const View a = ViewOf(one, 5, 3, 64, 64), b = ViewOf(other, 5, 3, 64, 64);
  EXPECT_EQ(std::tuple(a.down, a.right, a.height, a.width), std::tuple(b.down, b.right, b.height, b.width));
}

TEST(AugmentTest, LightIsAFunctionOfThePixelAndTheMean) {
  const Array images = Images(2);
  double mean = 0;
  for (int64_t i = 0; i < kPixels; ++i) mean += images.data[kPixels + i] / double{kPixels};
  const View view = {.brightness = 1.5f, .contrast = 2.0f};
  const TensorSpec part = {DType::kF32, {1, 1, 2, 3}, {1, kChannels, kHeight, kWidth}, {0, 1, 1, 1}};
  std::vector<uint8_t> whole(kPixels, 255);
  std::vector<float> cut(6, -1);
  uint8_t *to = whole.data(), *to_cut = reinterpret_cast<uint8_t*>(cut.data());
  ASSERT_TRUE(CopyView(view, images, 1, Whole(1), to));
  ASSERT_TRUE(CopyView(view, images, 1, part, to_cut));
  for (int64_t i = 0; i < kPixels; ++i) {
    const double value = 2 * (1.5 * images.data[kPixels + i] - 1.5 * mean) + 1.5 * mean;
    EXPECT_NEAR(whole[i], std::min(std::max(value, 0.0), 255.0), 0.5 + 1e-4) << i;
  }
  for (int64_t i = 0; i < 6; ++i) {
    const int64_t at = kPixels + (kHeight + 1 + i / 3) * kWidth + 1 + i % 3;
    EXPECT_NEAR(cut[i], 2 * (1.5 * images.data[at] - 1.5 * mean) + 1.5 * mean, 1e-3) << i;
  }
  Augmentation drawn = Make(0, false);
  drawn.set_brightness(0.4);
  drawn.set_contrast(0.2);
  for (int64_t sample = 0; sample < 100; ++sample) {
    const View lit = ViewOf(drawn, 5, sample, kHeight, kWidth);
    EXPECT_NEAR(lit.brightness, 1, 0.4);
    EXPECT_NEAR(lit.contrast, 1, 0.2);
  }
}

std::vector<uint8_t> Fill(const RecordBatches& batches, const TensorSpec& spec, int64_t step, int64_t micro_batch) {
  std::vector<uint8_t> out(spec.elements());
  const absl::Status status = batches.Fill(spec, "x", step, micro_batch, out.data());
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

class AugmentedBatchesTest : public testing::TestWithParam<bool> {};

TEST_P(AugmentedBatchesTest, DoNotDependOnHowTheyAreCut) {
  Augmentation augmentation = GetParam() ? Resized(0.2, 1) : Make(2, true);
  augmentation.set_brightness(GetParam() ? 0.4 : 0);
  augmentation.set_contrast(GetParam() ? 0.4 : 0);
  const auto batches = RecordBatches::Create({{"x", Images(6)}}, {.global_batch = 6, .seed = 3}, {{"x", augmentation}});
  ASSERT_TRUE(batches.ok()) << batches.status();
  std::set<std::vector<uint8_t>> epochs;
  for (int64_t step = 0; step < 12; ++step) {
    const std::vector<uint8_t> whole = Fill(**batches, Whole(6), step, 0);
    std::vector<uint8_t> cut = Fill(**batches, Whole(3), step, 0), more = Fill(**batches, Whole(3), step, 1);
    cut.insert(cut.end(), more.begin(), more.end());
    EXPECT_EQ(cut, whole) << step;
    // Rows 2 and 3, the second channel, columns 3 and 4.
    const TensorSpec tile = {DType::kU8, {2, 1, kHeight, 2}, {6, kChannels, kHeight, kWidth}, {2, 1, 0, 3}};
    const std::vector<uint8_t> part = Fill(**batches, tile, step, 0);
    for (int64_t i = 0; i < 12; ++i) {
      const int64_t row = 2 + i / 6, y = i / 2 % 3, x = 3 + i % 2;
      EXPECT_EQ(part[i], whole[row * kPixels + (kHeight + y) * kWidth + x]) << step;
    }
    epochs.insert(whole);
  }
  EXPECT_EQ(epochs.size(), 12u);  // the same six images, seen in other ways
}

INSTANTIATE_TEST_SUITE_P(Augment, AugmentedBatchesTest, testing::Bool());

TEST(AugmentTest, OnlyImagesOfFieldsThatAreThere) {
  const auto error = [](const absl::Status& status) { return std::string(status.message()); };
  const auto none = RecordBatches::Create({{"y", Images(2)}}, {.global_batch = 1}, {{"x", Make(1, false)}});
  EXPECT_EQ(error(none.status()), "data.augment: expected one of `y`, got `x`");
  EXPECT_EQ(error(CheckAugmentation(Make(3, false), Whole(2))),
            "data.augment of `x`: expected a crop_padding from 0 to 2, for images of 3 x 5, got 3");
  EXPECT_FALSE(CheckAugmentation(Make(-1, false), Whole(2)).ok());
  EXPECT_TRUE(CheckAugmentation(Make(2, false), Whole(2)).ok());
  Augmentation both = Resized(0.2, 1);
  both.set_crop_padding(1);
  EXPECT_EQ(error(CheckAugmentation(both, Whole(2))),
            "data.augment of `x`: expected crop_padding or resized_crop, got both");
  both.set_crop_padding(0);
  both.set_contrast(1.5);
  EXPECT_EQ(error(CheckAugmentation(both, Whole(2))), "data.augment of `x`: expected a contrast from 0 to 1, got 1.5");
  EXPECT_THAT(error(CheckAugmentation(Resized(0.2, 1), TensorSpec::Whole(DType::kI32, {2, 1, 3, 5}))),
              HasSubstr("data.augment of `x`: expected u8 or f32, to compute with, got an input i32"));
  EXPECT_THAT(error(CheckAugmentation(Make(1, false), TensorSpec::Whole(DType::kI32, {2, 4}))),
              HasSubstr("data.augment of `x`: expected images, [batch, ..., height, width], got an input "));
}

}  // namespace
}  // namespace weft::data
