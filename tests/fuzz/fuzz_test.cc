// Random layouts of random models train as one rank does. Each case is a fork: nothing here compiles before, since a
// child lacks the threads that linking leaves behind.
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/case.h"
#include "tests/fuzz/trial.h"

namespace weft::fuzz {
namespace {

constexpr uint64_t kSeedsOfPart = 25;

class LayoutsTest : public testing::TestWithParam<uint64_t> {};  // by the first seed

TEST_P(LayoutsTest, AgreeWithOneRank) {
  int agree = 0, refused = 0;
  for (uint64_t seed = GetParam(); seed < GetParam() + kSeedsOfPart; ++seed) {
    const Trial trial = Try(RandomCase(seed), std::filesystem::current_path());
    EXPECT_NE(trial.verdict, Verdict::kFails) << trial.what << "\nbazel run //tests/fuzz -- --count 1 --seed " << seed;
    agree += trial.verdict == Verdict::kAgrees;
    refused += trial.verdict == Verdict::kRefused;
  }
  EXPECT_GE(agree, 10) << "too few are allowed";
  EXPECT_GE(refused, 1) << "too few are forbidden";
}

INSTANTIATE_TEST_SUITE_P(Seeds, LayoutsTest, testing::Values(1, 26, 51, 76));

TEST(CaseTest, IsAFunctionOfItsSeed) {
  const Case a = RandomCase(7), b = RandomCase(7), other = RandomCase(8);
  EXPECT_EQ(TextOf(a.model, "") + JobOf(a, "") + Many(a)[0], TextOf(b.model, "") + JobOf(b, "") + Many(b)[0]);
  EXPECT_NE(TextOf(a.model, "") + JobOf(a, ""), TextOf(other.model, "") + JobOf(other, ""));
}

}  // namespace
}  // namespace weft::fuzz
