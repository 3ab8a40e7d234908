// The planner's arena is near what a plan needs, on every model of the zoo under one schedule: WEFT_SCHEDULE.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/plan/layout.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

// Beside 3 % of the lower bound: what transfers touch. The bound knows two executions; in others a transfer is under
// way at another time, and static offsets have to leave its bytes alone always. With several chunks or split backwards
// the places of micro-batches that end are refilled in another order than they were filled, which leaves holes:
// WEFT_HOLES.
constexpr double kAbove = 1.03 + WEFT_HOLES;

// Of the last of two interleaved stages of 124m, two tensors of logits are 1.54 GiB each of 5.5 GiB that are live. The
// fifth micro-batch comes before the first has gone, takes the logits' place, and stays when they come back: what is
// free then is enough, but nowhere in one piece.
constexpr double kOfLogits = 0.25;

int64_t TransferredBytes(const plan::Plan& plan, int stage) {
  int64_t bytes = 0;
  const auto add = [&](int s, int b) {
    const plan::Buffer& buffer = plan.stages(stage).buffers(b);
    const bool state = buffer.kind() == plan::Buffer::PARAMETER;
    if (s != stage || state) return;
    bytes += plan::AlignUp(plan::LocalBytes(plan.placements(plan.stages(stage).placement()), buffer)) * buffer.slots();
  };
  for (const plan::Transfer& it : plan.transfers()) {
    if (it.source_stage() == stage) add(stage, it.source_buffer());
    if (it.target_stage() == stage) add(stage, it.target_buffer());
  }
  return bytes;
}

struct Layout {
  const char* job;
  int pipeline;
  int micro_batches;
};

void PrintTo(const Layout& layout, std::ostream* os) {
  *os << layout.job << " on " << layout.pipeline << " stages, " << layout.micro_batches << " micro-batches";
}

class ArenaTest : public testing::TestWithParam<Layout> {};

TEST_P(ArenaTest, IsNearTheLowerBound) {
  const Layout& layout = GetParam();
  std::vector<std::string> overrides = {"pipeline.schedule=" WEFT_SCHEDULE, "batch.micro=8",
                                        absl::StrCat("batch.global=", 8 * layout.micro_batches),
                                        absl::StrCat("dist.pipeline=", layout.pipeline)};
  if (std::string(WEFT_FORM) == "V") overrides.push_back("pipeline.form=V");
  if (std::string(WEFT_CHUNKS) != "1") overrides.push_back("pipeline.chunks=" WEFT_CHUNKS);
  const absl::StatusOr<plan::Plan> plan = CompileJob(absl::StrCat("models/", layout.job, ".job"), overrides);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const bool interleaved = std::string(WEFT_SCHEDULE) == "INTERLEAVED";
  const bool logits = interleaved && std::string(layout.job) == "gpt2/124m" && layout.pipeline == 2;
  const double above = kAbove + (logits ? kOfLogits : 0);
  for (int s = 0; s < plan->stages_size(); ++s) {
    const plan::Stage& stage = plan->stages(s);
    EXPECT_LE(static_cast<double>(stage.arena_bytes()),
              above * static_cast<double>(stage.lower_bound_bytes()) + static_cast<double>(TransferredBytes(*plan, s)))
        << "stage " << s << ": " << stage.arena_bytes() << " bytes, lower bound " << stage.lower_bound_bytes();
    EXPECT_GE(stage.arena_bytes(), stage.lower_bound_bytes());
  }
}

// Small models cannot be cut into eight chunks.
INSTANTIATE_TEST_SUITE_P(Zoo, ArenaTest,
                         testing::Values(Layout{"gpt2/tiny", 2, 4}, Layout{"gpt2/tiny", 2, 8},
                                         Layout{"gpt2/124m", 2, 4}, Layout{"gpt2/124m", 2, 8},
                                         Layout{"gpt2/124m", 4, 4}, Layout{"gpt2/124m", 4, 8},
                                         Layout{"gpt2/345m", 2, 4}, Layout{"gpt2/345m", 2, 8},
                                         Layout{"gpt2/345m", 4, 4}, Layout{"gpt2/345m", 4, 8},
                                         Layout{"gpt2/1.5b", 4, 4}, Layout{"gpt2/1.5b", 4, 8}));

}  // namespace
}  // namespace weft::tests
