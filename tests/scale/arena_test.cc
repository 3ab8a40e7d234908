// The planner's arena is within 3 % of what a plan needs at least, on the models of the zoo under one schedule:
// WEFT_SCHEDULE. A few steps are not there yet (docs/design/17-memory.md); they are within a quarter.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

constexpr double kAbove = 1.03, kAboveYet = 1.25;

struct Layout {
  const char* job;
  int pipeline;
  int micro_batches;
  const char* more = "";
};

void PrintTo(const Layout& layout, std::ostream* os) {
  *os << layout.job << " on " << layout.pipeline << " stages, " << layout.micro_batches << " micro-batches "
      << layout.more;
}

// The steps above 3 %, by schedule and chunks.
bool IsAboveYet(const Layout& layout) {
  const std::string schedule = WEFT_SCHEDULE " x" WEFT_CHUNKS;
  const std::string name = absl::StrCat(layout.job, " ", layout.pipeline, " ", layout.micro_batches,
                                        layout.more[0] == 0 ? "" : " ", layout.more);
  static const auto* const above = new std::set<std::string>{
      "INTERLEAVED x2: gpt2/tiny 4 8 model.set=layers=8",
      "INTERLEAVED x2: gpt2/tiny 4 12 model.set=layers=8",
      "INTERLEAVED x2: gpt2/tiny 4 32 model.set=layers=8",
      "INTERLEAVED x2: gpt2/124m 2 8",
      "INTERLEAVED x2: gpt2/124m 4 64",
      "INTERLEAVED x2: gpt2/345m 4 32",
      "INTERLEAVED x2: gpt2/124m 2 8 recompute.policy=SELECTIVE",
      "INTERLEAVED x2: gpt2/124m 4 8 recompute.policy=FULL",
      "ZERO_BUBBLE x1: mlp/mlp 2 16",
      "ZERO_BUBBLE x1: gpt2/tiny 4 32 model.set=layers=8",
  };
  return above->count(absl::StrCat(schedule, ": ", name)) > 0;
}

class ArenaTest : public testing::TestWithParam<Layout> {};

TEST_P(ArenaTest, IsNearTheLowerBound) {
  const Layout& layout = GetParam();
  std::vector<std::string> overrides = {"pipeline.schedule=" WEFT_SCHEDULE, "batch.micro=8",
                                        absl::StrCat("batch.global=", 8 * layout.micro_batches),
                                        absl::StrCat("dist.pipeline=", layout.pipeline)};
  if (std::string(WEFT_FORM) == "V") overrides.push_back("pipeline.form=V");
  if (std::string(WEFT_CHUNKS) != "1") overrides.push_back("pipeline.chunks=" WEFT_CHUNKS);
  for (const std::string& more : std::vector<std::string>(absl::StrSplit(layout.more, ' ', absl::SkipEmpty()))) {
    overrides.push_back(more);
  }
  if (std::string(layout.job) == "mlp/mlp" && std::string(WEFT_CHUNKS) != "1") GTEST_SKIP() << "three layers";
  const absl::StatusOr<plan::Plan> plan = CompileJob(absl::StrCat("models/", layout.job, ".job"), overrides);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const double most = IsAboveYet(layout) ? kAboveYet : kAbove;
  for (int s = 0; s < plan->stages_size(); ++s) {
    const plan::Stage& stage = plan->stages(s);
    EXPECT_LE(static_cast<double>(stage.arena_bytes()), most * static_cast<double>(stage.lower_bound_bytes()))
        << "stage " << s << ": " << stage.arena_bytes() << " bytes, lower bound " << stage.lower_bound_bytes();
    EXPECT_GE(stage.arena_bytes(), stage.lower_bound_bytes());
  }
}

// Small models cannot be cut into eight chunks.
INSTANTIATE_TEST_SUITE_P(Zoo, ArenaTest,
                         testing::Values(Layout{"mlp/mlp", 2, 4}, Layout{"mlp/mlp", 2, 8}, Layout{"gpt2/tiny", 2, 4},
                                         Layout{"gpt2/tiny", 2, 8}, Layout{"gpt2/tiny", 4, 4, "model.set=layers=8"},
                                         Layout{"gpt2/tiny", 4, 8, "model.set=layers=8"}, Layout{"gpt2/124m", 2, 4},
                                         Layout{"gpt2/124m", 2, 8}, Layout{"gpt2/124m", 4, 4},
                                         Layout{"gpt2/124m", 4, 8}, Layout{"gpt2/345m", 2, 4},
                                         Layout{"gpt2/345m", 2, 8}, Layout{"gpt2/345m", 4, 4},
                                         Layout{"gpt2/345m", 4, 8}, Layout{"gpt2/1.5b", 2, 4},
                                         Layout{"gpt2/1.5b", 2, 8}, Layout{"gpt2/1.5b", 4, 4},
                                         Layout{"gpt2/1.5b", 4, 8}));

// Places in turn.
INSTANTIATE_TEST_SUITE_P(LongSteps, ArenaTest,
                         testing::Values(Layout{"mlp/mlp", 2, 16}, Layout{"gpt2/tiny", 2, 12},
                                         Layout{"gpt2/tiny", 2, 32}, Layout{"gpt2/tiny", 4, 12, "model.set=layers=8"},
                                         Layout{"gpt2/tiny", 4, 32, "model.set=layers=8"}, Layout{"gpt2/124m", 2, 32},
                                         Layout{"gpt2/124m", 4, 16}, Layout{"gpt2/124m", 4, 32},
                                         Layout{"gpt2/124m", 4, 64}, Layout{"gpt2/345m", 2, 32},
                                         Layout{"gpt2/345m", 4, 32}));

INSTANTIATE_TEST_SUITE_P(Samples, ArenaTest,
                         testing::Values(Layout{"gpt2/tiny", 2, 4, "dist.data=2 zero.stage=3"},
                                         Layout{"gpt2/tiny", 2, 8, "recompute.policy=FULL"},
                                         Layout{"gpt2/124m", 2, 8, "dist.data=2 zero.stage=1"},
                                         Layout{"gpt2/124m", 4, 8, "dist.data=2 zero.stage=2"},
                                         Layout{"gpt2/124m", 4, 4, "dist.data=2 zero.stage=3 recompute.policy=FULL"},
                                         Layout{"gpt2/124m", 2, 8, "recompute.policy=SELECTIVE"},
                                         Layout{"gpt2/124m", 2, 8, "recompute.policy=FULL"},
                                         Layout{"gpt2/124m", 4, 8, "recompute.policy=FULL"}));

}  // namespace
}  // namespace weft::tests
