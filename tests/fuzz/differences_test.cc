// What differs from one rank by more than rounding would be noticed.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/case.h"
#include "tests/fuzz/model.h"
#include "tests/fuzz/train.h"
#include "tests/fuzz/trial.h"

namespace weft::fuzz {
namespace {

Result Of(float loss, float w) { return {{loss}, {{"w", {0, 0}}}, {{"w", {w, 1}}}}; }

TEST(DifferencesTest, FollowTheBound) {
  const Result one = Of(1, 1), disturbed = Of(1 + 0x1p-6f, 1 + 0x1p-8f);
  double share = 0;
  EXPECT_EQ(Differences(one, one, disturbed, false, &share), "");
  EXPECT_EQ(share, 0);
  // 2^-7 of what bfloat16 changed, and 2^3 + 2^5 roundings of 1, which is as far as `w` went.
  EXPECT_EQ(Differences(Of(1, 1 + 0x1p-15f), one, disturbed, false, &share), "");
  EXPECT_GT(share, 0.7);
  EXPECT_NE(Differences(Of(1, 1 + 0x1p-14f), one, disturbed, false, &share), "");
  EXPECT_NE(Differences(Of(1 + 0x1p-12f, 1), one, disturbed, false, &share), "");
  EXPECT_EQ(Differences(Of(1, 1 + 0x1p-7f), one, disturbed, true, &share), "") << "a narrow run may make more";
  EXPECT_NE(Differences(Of(1, 1 + 0x1p-3f), one, disturbed, true, &share), "");
  EXPECT_NE(Differences(Of(NAN, 1), one, disturbed, true, &share), "");
  // What bfloat16 has changed little by chance may differ as much as others of its kind.
  Result three = one, rounded = disturbed, differs = one;
  for (const char* name : {"u", "v"}) {
    three.state[name] = three.initial[name] = differs.state[name] = {1};
    rounded.state[name] = {name[0] == 'u' ? 1 + 0x1p-20f : 1 + 0x1p-8f};
  }
  differs.initial = three.initial;
  differs.state["u"] = {1 + 0x1p-15f};
  EXPECT_EQ(Differences(differs, three, rounded, false, &share), "");
  differs.state["u"] = {1 + 0x1p-13f};
  EXPECT_NE(Differences(differs, three, rounded, false, &share), "");
  Result less = one;
  less.state.clear();
  EXPECT_NE(Differences(less, one, disturbed, false, &share), "");
}

// A bound that nothing exceeds would prove nothing: one sample of 64 that goes missing is 1 / 64 of a gradient.
TEST(DifferencesTest, NoticeAHundredthOfAnUpdate) {
  const std::string file = testing::TempDir() + "/notice.mlir";
  Model model;
  model.blocks = {{{{0, 0, 0}}}, {{{5, 0, 0}}}};
  std::ofstream(file) << TextOf(model, std::filesystem::current_path());
  Case a_case;
  a_case.model = model;
  const auto train = [&](const std::string& rate, const Overrides& overrides) {
    a_case.optimizer = "sgd { lr: " + rate + " }";
    absl::StatusOr<Result> result = Train(JobOf(a_case, file), overrides, model.vocab, 3);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : Result();
  };
  const Result one = train("0.1", {}), disturbed = train("0.1", {"precision.compute=BF16"});
  double share = 0;
  EXPECT_EQ(Differences(train("0.1", {"dist.data=2"}), one, disturbed, false, &share), "");
  EXPECT_NE(Differences(train("0.101", {"dist.data=2"}), one, disturbed, false, &share), "");
}

}  // namespace
}  // namespace weft::fuzz
