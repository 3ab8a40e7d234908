// Layouts of a large model compile to plans that the verifier accepts: on stages of several mesh axes, with ZeRO
// and with what is computed again, collectives of overlapping groups keep one order.
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

struct Layout {
  int zero;
  const char* recompute;
};

void PrintTo(const Layout& layout, std::ostream* os) { *os << "ZeRO " << layout.zero << ", " << layout.recompute; }

class LayoutsTest : public testing::TestWithParam<Layout> {};

TEST_P(LayoutsTest, Compiles) {
  const absl::StatusOr<plan::Plan> plan = CompileJob(
      "models/gpt2/175b.job",
      {"model.set=layers=4", "dist.pipeline=2", "dist.tensor=8", "dist.data=4",
       absl::StrCat("zero.stage=", GetParam().zero), absl::StrCat("recompute.policy=", GetParam().recompute)},
      "clusters/128x8h200.cluster");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->stages_size(), 2);
}

INSTANTIATE_TEST_SUITE_P(Large, LayoutsTest,
                         testing::Values(Layout{0, "NONE"}, Layout{0, "FULL"}, Layout{1, "NONE"}, Layout{1, "FULL"},
                                         Layout{2, "SELECTIVE"}, Layout{3, "FULL"}));

}  // namespace
}  // namespace weft::tests
