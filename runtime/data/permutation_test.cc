#include "runtime/data/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::data {
namespace {

std::vector<int64_t> Epoch(const Permutation& permutation, int64_t count, int64_t epoch) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(permutation.At(epoch, i));
  return values;
}

TEST(PermutationTest, IsABijectionForEveryCount) {
  for (int64_t count = 1; count < 300; ++count) {
    const Permutation permutation(count, 7);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> values = Epoch(permutation, count, epoch);
      std::sort(values.begin(), values.end());
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(values[i], i) << count << " values, epoch " << epoch;
    }
  }
}

TEST(PermutationTest, IsAPureFunctionOfSeedEpochAndIndex) {
  const Permutation a(1000, 42), b(1000, 42), other_seed(1000, 43);
  EXPECT_EQ(Epoch(a, 1000, 5), Epoch(b, 1000, 5));
  EXPECT_NE(Epoch(a, 1000, 5), Epoch(a, 1000, 6));
  EXPECT_NE(Epoch(a, 1000, 5), Epoch(other_seed, 1000, 5));
}

// The numbers that runs were made with: another order would break resuming.
TEST(PermutationTest, StaysAsItWas) {
  const Permutation permutation(1000, 1234);
  std::vector<int64_t> first;
  for (int64_t i = 0; i < 6; ++i) first.push_back(permutation.At(2, i));
  EXPECT_EQ(first, (std::vector<int64_t>{842, 904, 155, 812, 376, 158}));
}

TEST(PermutationTest, PutsEveryValueEverywhereEquallyOften) {
  for (int64_t count : {3, 5, 11}) {
    const Permutation permutation(count, 99);
    const int64_t epochs = 20000;
    std::vector<int64_t> hits(count * count, 0);
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      for (int64_t i = 0; i < count; ++i) ++hits[i * count + permutation.At(epoch, i)];
    }
    const double mean = static_cast<double>(epochs) / count;
    for (int64_t h : hits) EXPECT_NEAR(h, mean, 6 * std::sqrt(mean)) << count << " values";
  }
}

TEST(PermutationTest, ReachesFarIntoLargeDomains) {
  const int64_t count = int64_t{1} << 40;
  const Permutation permutation(count, 3);
  int64_t above = 0;
  for (int64_t i = 0; i < 1000; ++i) above += permutation.At(0, i) >= count / 2 ? 1 : 0;
  EXPECT_NEAR(above, 500, 100);
}

}  // namespace
}  // namespace weft::data
