// Without a pipeline, all that lives is known exactly: one rank, and meshes.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

TEST(ArenaTest, IsNearTheLowerBound) {
  for (const char* job : {"mlp/mlp", "gpt2/tiny", "gpt2/124m", "gpt2/345m", "gpt2/1.5b"}) {
    for (const char* mesh : {"dist.data=1", "dist.data=2"}) {
      for (int micro_batches : {1, 4}) {
        const std::string global = absl::StrCat("batch.global=", 8 * micro_batches);
        const std::string tensor = absl::StrCat("dist.tensor=", mesh + sizeof("dist.data=") - 1);
        const absl::StatusOr<plan::Plan> plan =
            CompileJob(absl::StrCat("models/", job, ".job"), {mesh, tensor, global, "batch.micro=8"});
        ASSERT_TRUE(plan.ok()) << job << " " << mesh << ": " << plan.status();
        const plan::Stage& stage = plan->stages(0);
        EXPECT_LE(static_cast<double>(stage.arena_bytes()), 1.03 * static_cast<double>(stage.lower_bound_bytes()))
            << job << " " << mesh << " " << global;
      }
    }
  }
}

}  // namespace
}  // namespace weft::tests
