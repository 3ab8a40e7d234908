// Whatever a plan's fields hold, it is accepted or refused: nothing crashes,
// hangs or reads where it should not (the sanitizers look on).
#include <gtest/gtest.h>

#include <vector>

#include "runtime/measure/memory.h"
#include "runtime/plan/validate.h"
#include "runtime/proof/verify.h"
#include "runtime/show/print.h"
#include "tests/plans/corpus.h"
#include "tests/plans/mutator.h"

namespace weft::plan {
namespace {

// Everything that may be asked about a plan.
void Exercise(const Plan& plan, int& valid, int& verified) {
  const absl::Status validated = Validate(plan);
  const absl::Status status = Verify(plan);
  EXPECT_TRUE(validated.ok() || status == validated);
  if (!validated.ok()) return;
  ++valid;
  EXPECT_FALSE(SummaryText(plan, {true}).empty());
  EXPECT_FALSE(SummaryJson(plan, {true}).empty());
  if (!status.ok()) return;
  ++verified;
  const absl::StatusOr<std::vector<StageMemory>> memory = MeasureMemory(plan);
  ASSERT_TRUE(memory.ok()) << memory.status();
  for (const StageMemory& stage : *memory) {
    EXPECT_LE(stage.lower_bound_bytes, stage.arena_bytes) << "a verified plan holds what is live\n"
                                                          << plan.DebugString();
  }
}

TEST(Mutations, AreAcceptedOrRefused) {
  const absl::StatusOr<std::vector<CorpusPlan>> corpus = ReadCorpus("tests/plans");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  Mutator mutator(20240617);
  int valid = 0, verified = 0, made = 0;
  for (int round = 0; made < 4000; ++round) {
    const CorpusPlan& base = (*corpus)[round % corpus->size()];
    if (!base.expect.empty()) continue;
    for (int i = 0; i < 100; ++i, ++made) {
      Plan plan = base.plan;
      const int changes = 1 + i % 3;
      for (int c = 0; c < changes; ++c) mutator.Mutate(&plan);
      Exercise(plan, valid, verified);
    }
  }
  // Enough of them come through each gate for the test to mean something.
  EXPECT_GT(valid, 400);
  EXPECT_GT(verified, 200);
  EXPECT_LT(verified, valid);
  EXPECT_LT(valid, made);
}

}  // namespace
}  // namespace weft::plan
