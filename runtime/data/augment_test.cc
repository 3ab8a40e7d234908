#include "runtime/data/augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    const View view = ViewOf(Make(1, true), 5, sample), other = ViewOf(Make(1, true), 6, sample);
    ++counts[{view.down, view.right, view.mirrored}];
    alike += view.down == other.down && view.right == other.right && view.mirrored == other.mirrored;
  }
  EXPECT_EQ(counts.size(), kViews);
  // 1,000 of each, to five standard deviations: 5 sqrt(18000 / 18).
  for (const auto& [view, count] : counts) EXPECT_NEAR(count, kSamples / kViews, 160);
  EXPECT_NEAR(alike, kSamples / kViews, 160);
  const View still = ViewOf(Make(0, false), 5, 7);
  EXPECT_TRUE(still.down == 0 && still.right == 0 && !still.mirrored);
}

std::vector<uint8_t> Fill(const RecordBatches& batches, const TensorSpec& spec, int64_t step, int64_t micro_batch) {
  std::vector<uint8_t> out(spec.elements());
  const absl::Status status = batches.Fill(spec, "x", step, micro_batch, out.data());
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

TEST(AugmentTest, BatchesDoNotDependOnHowTheyAreCut) {
  const auto batches =
      RecordBatches::Create({{"x", Images(6)}}, {.global_batch = 6, .seed = 3}, {{"x", Make(2, true)}});
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

TEST(AugmentTest, OnlyImagesOfFieldsThatAreThere) {
  const auto error = [](const absl::Status& status) { return std::string(status.message()); };
  const auto none = RecordBatches::Create({{"y", Images(2)}}, {.global_batch = 1}, {{"x", Make(1, false)}});
  EXPECT_EQ(error(none.status()), "data.augment: expected one of `y`, got `x`");
  EXPECT_EQ(error(CheckAugmentation(Make(3, false), Whole(2))),
            "data.augment of `x`: expected a crop_padding from 0 to 2, for images of 3 x 5, got 3");
  EXPECT_FALSE(CheckAugmentation(Make(-1, false), Whole(2)).ok());
  EXPECT_TRUE(CheckAugmentation(Make(2, false), Whole(2)).ok());
  EXPECT_THAT(error(CheckAugmentation(Make(1, false), TensorSpec::Whole(DType::kI32, {2, 4}))),
              HasSubstr("data.augment of `x`: expected images, [batch, ..., height, width], got an input "));
}

}  // namespace
}  // namespace weft::data
