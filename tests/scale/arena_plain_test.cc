// Without a pipeline, all that lives is known exactly: one rank, and meshes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

struct Layout {
  int rows;  // of a micro-batch
  std::vector<std::string> overrides;
};

const Layout kLayouts[] = {
    {8, {}},
    {4, {"dist.data=4", "dist.tensor=2"}},
    {8, {"dist.data=8"}},
    {8, {"dist.data=8", "dist.tensor=2"}},
    {8, {"dist.data=2", "dist.tensor=2"}},
    {8, {"dist.data=4"}},
    {32, {"dist.data=8"}},
    {32, {"dist.data=8", "dist.tensor=2"}},
    {8, {"dist.data=4", "zero.stage=1"}},
    {8, {"dist.data=4", "zero.stage=3"}},
};

TEST(ArenaTest, IsNearTheLowerBound) {
  for (const char* job : {"mlp/mlp", "gpt2/tiny", "gpt2/124m", "gpt2/345m", "gpt2/1.5b"}) {
    for (const Layout& layout : kLayouts) {
      for (int micro_batches : {1, 4}) {
        std::vector<std::string> overrides = layout.overrides;
        overrides.push_back(absl::StrCat("batch.micro=", layout.rows));
        overrides.push_back(absl::StrCat("batch.global=", layout.rows * micro_batches));
        const std::string text = absl::StrCat(job, " ", absl::StrJoin(overrides, " "));
        const absl::StatusOr<plan::Plan> plan = CompileJob(absl::StrCat("models/", job, ".job"), overrides);
        ASSERT_TRUE(plan.ok()) << text << ": " << plan.status();
        const plan::Stage& stage = plan->stages(0);
        EXPECT_LE(static_cast<double>(stage.arena_bytes()), 1.03 * static_cast<double>(stage.lower_bound_bytes()))
            << text;
      }
    }
  }
}

}  // namespace
}  // namespace weft::tests
