// A plan's size follows the program, not the ranks; that of its memory what is live.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

absl::StatusOr<plan::Plan> PlanFor(int64_t ranks) {
  return CompileJob("models/gpt2/124m.job", {"batch.global=64", "batch.micro=64", absl::StrCat("dist.data=", ranks)});
}

int64_t PlanBytes(int64_t ranks) {
  absl::StatusOr<plan::Plan> plan = PlanFor(ranks);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return 0;
  plan->clear_code();  // machine code is a few bytes longer or shorter with the numbers in it
  return static_cast<int64_t>(plan->ByteSizeLong());
}

// The layouts that inference finds are alike from 16 ranks on, so that what
// differs is the list of ranks.
TEST(PlanSizeTest, AFewBytesADataParallelRank) {
  const int64_t few = PlanBytes(16), many = PlanBytes(64);
  EXPECT_GT(few, 100'000);  // the program itself
  EXPECT_LE(many - few, 4 * (64 - 16));
}

TEST(PlanSizeTest, AnArenaIsNearTheLowerBoundThatThePlanStates) {
  const absl::StatusOr<plan::Plan> plan = PlanFor(16);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const plan::Stage& stage : plan->stages()) {
    EXPECT_LE(static_cast<double>(stage.arena_bytes()), 1.03 * static_cast<double>(stage.lower_bound_bytes()));
  }
}

}  // namespace
}  // namespace weft::tests
