// What a stage makes of nothing but constants has a slot for each micro-batch that is under way, and a stage that reads
// nothing of its input has one chunk: such a plan verifies in every schedule.
#include <string>

#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

const plan::Buffer* BufferOf(const plan::Stage& stage, const std::string& name) {
  for (const plan::Buffer& buffer : stage.buffers()) {
    if (buffer.name().rfind(name, 0) == 0) return &buffer;
  }
  return nullptr;
}

class LastSlotTest : public testing::TestWithParam<std::pair<std::string, int>> {};

TEST_P(LastSlotTest, Verifies) {
  const auto& [schedule, slots] = GetParam();
  const absl::StatusOr<plan::Plan> plan = CompileJob("tests/pipeline/last_slot.job", {"pipeline.schedule=" + schedule});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const plan::Buffer* noise = BufferOf(plan->stages(1), "random_normal");
  ASSERT_NE(noise, nullptr);
  EXPECT_EQ(noise->slots(), slots);
  for (const plan::Actor& actor : plan->stages(1).actors()) EXPECT_EQ(actor.chunk(), 1) << actor.name();
}

INSTANTIATE_TEST_SUITE_P(Schedules, LastSlotTest,
                         testing::Values(std::pair{"ONE_F_ONE_B", 1}, std::pair{"GPIPE", 4},
                                         std::pair{"ZERO_BUBBLE", 1}));

}  // namespace
}  // namespace weft::tests
