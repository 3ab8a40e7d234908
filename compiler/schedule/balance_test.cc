#include "compiler/schedule/balance.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace weft::schedule {
namespace {

using Cut = std::vector<size_t>;

TEST(BalanceTest, OnePartHasEverything) { EXPECT_EQ(balance({1, 2, 3}, 1), (Cut{0})); }

TEST(BalanceTest, AsManyPartsAsWeights) { EXPECT_EQ(balance({9, 0, 1}, 3), (Cut{0, 1, 2})); }

TEST(BalanceTest, EqualWeightsGoInEqualParts) { EXPECT_EQ(balance({1, 1, 1, 1, 1, 1}, 3), (Cut{0, 2, 4})); }

// A language model: the head weighs as much as four layers.
TEST(BalanceTest, AHeavyEndIsAlone) { EXPECT_EQ(balance({0.1, 1, 1, 1, 1, 1, 1, 1, 1, 4}, 3), (Cut{0, 5, 9})); }

// The heaviest part is 5 in any cut; the rest is still cut evenly.
TEST(BalanceTest, AmongEquallyHeavyCutsTheOthersAreEven) {
  EXPECT_EQ(balance({5, 1, 1, 1, 1}, 3), (Cut{0, 1, 3}));
  EXPECT_EQ(balance({1, 1, 1, 1, 5}, 3), (Cut{0, 2, 4}));
}

// What costs nothing may be anywhere, but every part has something.
TEST(BalanceTest, WeightsOfNothing) {
  EXPECT_EQ(balance({0, 0, 0}, 3), (Cut{0, 1, 2}));
  Cut cut = balance({0, 0, 0, 0}, 2);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0], 0u);
  EXPECT_GT(cut[1], 0u);
}

// The parts' heaviest, and the sum of their squares.
std::pair<double, double> loadOf(const std::vector<double> &weights, const Cut &cut) {
  double most = 0, squares = 0;
  for (size_t i = 0; i < cut.size(); ++i) {
    double sum = 0;
    for (size_t k = cut[i]; k < (i + 1 < cut.size() ? cut[i + 1] : weights.size()); ++k)
      sum += weights[k];
    most = std::max(most, sum);
    squares += sum * sum;
  }
  return {most, squares};
}

// Of all cuts there are.
std::pair<double, double> leastLoad(const std::vector<double> &weights, size_t parts) {
  std::vector<bool> begins(weights.size() - 1, false); // of all but the first
  std::fill(begins.end() - long(parts - 1), begins.end(), true);
  std::pair<double, double> least(1e9, 1e9);
  do {
    Cut cut = {0};
    for (size_t i = 0; i < begins.size(); ++i) {
      if (begins[i])
        cut.push_back(i + 1);
    }
    least = std::min(least, loadOf(weights, cut));
  } while (std::next_permutation(begins.begin(), begins.end()));
  return least;
}

TEST(BalanceTest, NoCutIsLighterOrMoreEven) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> weights(2 + random() % 8);
    for (double &weight : weights)
      weight = double(random() % 10);
    for (size_t parts = 1; parts <= weights.size(); ++parts) {
      Cut got = balance(weights, parts);
      ASSERT_EQ(got.size(), parts);
      EXPECT_EQ(got[0], 0u);
      EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
      EXPECT_EQ(std::adjacent_find(got.begin(), got.end()), got.end());
      EXPECT_EQ(loadOf(weights, got), leastLoad(weights, parts));
    }
  }
}

} // namespace
} // namespace weft::schedule
