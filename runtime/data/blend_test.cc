#include "runtime/data/blend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/data/blended_batches.h"
#include "runtime/data/token_batches.h"

namespace weft::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Blend Of(const std::vector<double>& weights) {
  absl::StatusOr<Blend> blend = Blend::Create(weights);
  EXPECT_TRUE(blend.ok()) << blend.status();
  return *std::move(blend);
}

TEST(BlendTest, EverySetGivesItsShareInItsOwnOrder) {
  for (const std::vector<double>& weights :
       {std::vector<double>{0.7, 0.3}, {0.333333, 0.333333, 0.333333}, {0.6, 0.125, 0.025, 0.25}, {1}}) {
    const Blend blend = Of(weights);
    std::vector<int64_t> given(weights.size(), 0);
    for (int64_t sample = 0; sample < 25'000; ++sample) {
      const Blend::Sample got = blend.At(sample);
      ASSERT_EQ(got.index, given[got.set]) << sample;
      ++given[got.set];
      for (size_t set = 0; set < weights.size(); ++set) {
        // Shares are rounded to one in a period, of which there are three.
        EXPECT_LE(std::abs(given[set] - weights[set] * (sample + 1)), weights.size() + 3.0) << sample;
      }
    }
  }
  EXPECT_THAT(Of({0.66666, 0.33334}).shares(), ElementsAre(6667, 3333));
}

TEST(BlendTest, NamesWhatIsWrong) {
  const auto error = [](const std::vector<double>& weights) {
    return std::string(Blend::Create(weights).status().message());
  };
  for (const std::vector<double>& weights : {std::vector<double>{1, 0}, {2, -1}, {1, NAN}, {0.99999, 1e-5}}) {
    EXPECT_THAT(error(weights), HasSubstr("expected weights of at least one in 10000, got ")) << weights[1];
  }
  EXPECT_EQ(error({0.5, 0.3}), "expected weights that sum to 1, got 0.8");
  EXPECT_EQ(error({0.5, 0.500002}), "expected weights that sum to 1, got 1.000002");
  EXPECT_EQ(error({3, 1}), "expected weights that sum to 1, got 4");
  EXPECT_EQ(error({1, INFINITY}), "expected weights that sum to 1, got inf");
  EXPECT_EQ(error({}), "expected weights that sum to 1, got 0");
}

// Tokens from `first` on.
class Counting : public TokenStream {
 public:
  Counting(int32_t first, int64_t size) : first_(first), size_(size) {}
  const std::string& path() const override { return path_; }
  std::string form() const override { return "uint32"; }
  int64_t size() const override { return size_; }
  void Copy(int64_t begin, int64_t count, int32_t* out) const override {
    for (int64_t i = 0; i < count; ++i) out[i] = first_ + static_cast<int32_t>(begin + i);
  }
  TokenLook Look(int64_t) const override { return {}; }

 private:
  const std::string path_ = "counting";
  const int32_t first_;
  const int64_t size_;
};

TEST(BlendedBatchesTest, SamplesComeFromTheSetsInTurn) {
  std::vector<std::unique_ptr<SampleSet>> sets;
  for (const int32_t first : {0, 1000}) {
    sets.push_back(*TokenBatches::Create(std::make_unique<Counting>(first, 13),
                                         {.sequence = 4, .order = {.global_batch = 3, .order = SEQUENTIAL}}));
  }
  const BlendedBatches batches(std::move(sets), Of({0.6667, 0.3333}));
  const auto fill = [&](const TensorSpec& spec, const std::string& field, int64_t step) {
    std::vector<int32_t> out(spec.elements());
    EXPECT_TRUE(batches.Fill(spec, field, step, 0, out.data()).ok());
    return out;
  };
  const TensorSpec whole = TensorSpec::Whole(DType::kI32, {3, 4});
  EXPECT_THAT(fill(whole, "tokens", 0), ElementsAre(0, 1, 2, 3, 1000, 1001, 1002, 1003, 4, 5, 6, 7));
  EXPECT_THAT(fill(whole, "labels", 0), ElementsAre(1, 2, 3, 4, 1001, 1002, 1003, 1004, 5, 6, 7, 8));
  // The first set has been read once, and begins anew; not the second.
  EXPECT_THAT(fill(whole, "tokens", 1), ElementsAre(8, 9, 10, 11, 1004, 1005, 1006, 1007, 0, 1, 2, 3));
  EXPECT_THAT(fill({DType::kI32, {1, 2}, {3, 4}, {1, 2}}, "tokens", 1), ElementsAre(1006, 1007));
  int32_t out[16];
  EXPECT_THAT(std::string(batches.Fill(whole, "tokens", 0, 1, out).message()),
              HasSubstr("expected micro-batch 0 to 0"));
  EXPECT_FALSE(batches.Check(whole, "mask").ok());
}

}  // namespace
}  // namespace weft::data
