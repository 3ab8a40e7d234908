#include "tools/generate/sampler.h"

#include <cmath>
#include <map>
#include <vector>

#include "gtest/gtest.h"

namespace weft::generate {
namespace {

// Probabilities 0.5, 0.25, 0.125, 0.125 of tokens 2, 0, 1, 3 at a temperature of 1.
const std::vector<float> kLogits = {std::log(2.0f), 0, std::log(4.0f), 0};

// How often each token is chosen in `draws` sequences.
std::map<int32_t, int> Draw(const Sampling& sampling, int draws = 4000) {
  Sampler sampler(sampling);
  std::map<int32_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.Choose(kLogits, i, 7)];
  return counts;
}

TEST(Sampler, TakesTheLikeliest) {
  EXPECT_EQ(Draw({}, 3), (std::map<int32_t, int>{{2, 3}}));
  EXPECT_EQ(Sampler({}).Choose({3.0f, 5.0f, 5.0f}, 0, 0), 1) << "of equal ones the first";
}

// Five standard deviations of 4000 draws are at most 160.
TEST(Sampler, DrawsByProbability) {
  const auto counts = Draw({.temperature = 1, .seed = 3});
  EXPECT_NEAR(counts.at(2), 2000, 160);
  EXPECT_NEAR(counts.at(0), 1000, 140);
  EXPECT_NEAR(counts.at(1), 500, 105);
  EXPECT_NEAR(counts.at(3), 500, 105);
}

// At a temperature of 0.5 probabilities are squared: 16, 4, 1, 1 of 22.
TEST(Sampler, SharpensByTemperature) { EXPECT_NEAR(Draw({.temperature = 0.5, .seed = 3}).at(2), 4000 * 16 / 22, 145); }

TEST(Sampler, KeepsTheTopK) {
  const auto counts = Draw({.temperature = 1, .top_k = 3, .seed = 3});
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.count(3), 0u) << "of equal ones the first";
  EXPECT_NEAR(counts.at(2), 4000 * 4 / 7, 160);
  EXPECT_EQ(Draw({.temperature = 1, .top_k = 1, .seed = 3}).size(), 1u);
}

// 0.5 and 0.25 reach 0.7; 0.5 alone reaches 0.5, and one token is always kept.
TEST(Sampler, KeepsTheTopP) {
  const auto counts = Draw({.temperature = 1, .top_p = 0.7, .seed = 3});
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts.at(2), 4000 * 2 / 3, 150);
  EXPECT_EQ(Draw({.temperature = 1, .top_p = 0.4, .seed = 3}).size(), 1u);
  EXPECT_EQ(Draw({.temperature = 1, .top_p = 0, .seed = 3}).size(), 1u);
}

TEST(Sampler, FollowsSeedSequenceAndPositionAlone) {
  Sampler a({.temperature = 1, .seed = 1}), again({.temperature = 1, .seed = 1}), b({.temperature = 1, .seed = 2});
  int other_seed = 0, other_sequence = 0;
  for (int i = 0; i < 100; ++i) {
    const int32_t token = a.Choose(kLogits, 5, i);
    EXPECT_EQ(token, again.Choose(kLogits, 5, i));
    other_seed += token != b.Choose(kLogits, 5, i);
    other_sequence += token != a.Choose(kLogits, 6, i);
  }
  EXPECT_GT(other_seed, 20);
  EXPECT_GT(other_sequence, 20);
}

}  // namespace
}  // namespace weft::generate
