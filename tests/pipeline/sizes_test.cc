// Stages of very small models compile: a stage may have few buffers, or one that holds as much as all others together.
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

void ExpectCompiles(const std::vector<std::string>& overrides) {
  std::string job;
  for (const std::string& text : overrides) absl::StrAppend(&job, " '", text, "'");
  // A plan that compiles has been verified.
  const absl::StatusOr<plan::Plan> plan = CompileJob("models/gpt2/tiny.job", overrides);
  ASSERT_TRUE(plan.ok()) << plan.status() << job;
  for (const plan::Stage& stage : plan->stages()) {
    EXPECT_GT(stage.lower_bound_bytes(), 0) << job;
    EXPECT_GE(stage.arena_bytes(), stage.lower_bound_bytes()) << job;
  }
}

std::vector<std::string> Sized(int64_t layers, int64_t heads, int64_t hidden, int64_t seq) {
  std::vector<std::string> overrides;
  const auto set = [&](const char* name, int64_t value) {
    overrides.push_back(absl::StrCat("model.set=", name, "=", value));
  };
  set("layers", layers);
  set("heads", heads);
  set("hidden", hidden);
  set("seq", seq);
  set("positions", seq);
  return overrides;
}

// The memory search once divided by the number of blocks that it could move, which was 0.
TEST(SizesTest, NothingToMove) {
  std::vector<std::string> overrides = Sized(2, 1, 8, 6);
  overrides.insert(overrides.end(), {"batch={global: 16 micro: 2}", "dist.pipeline=3"});
  ExpectCompiles(overrides);
}

TEST(SizesTest, AnySize) {
  std::mt19937 random(1);
  const auto below = [&](int64_t count) { return static_cast<int64_t>(random() % count); };
  for (int i = 0; i < 40; ++i) {
    const int64_t stages = 1 + below(4), layers = stages + below(3), heads = 1 + below(3), micro = 1 + below(3);
    const char* schedules[] = {"GPIPE", "ONE_F_ONE_B", "ZERO_BUBBLE"};
    std::vector<std::string> overrides = Sized(layers, heads, heads * 4 * (1 + below(3)), 2 + below(8));
    overrides.push_back(absl::StrCat("batch={global: ", micro * (1 + below(8)), " micro: ", micro, "}"));
    overrides.push_back(absl::StrCat("dist.pipeline=", stages));
    const char* const schedule = schedules[below(3)];
    if (stages > 1) overrides.push_back(absl::StrCat("pipeline.schedule=", schedule));
    ExpectCompiles(overrides);
  }
}

}  // namespace
}  // namespace weft::tests
