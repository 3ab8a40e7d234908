// The two proofs of the bytes against each other: on plans that were changed at
// random, the fast one passes what the one that explains passes, and nothing else.
#include "runtime/proof/cell_detector.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "runtime/plan/validate.h"
#include "runtime/proof/race_detector.h"
#include "tests/plans/corpus.h"
#include "tests/plans/mutator.h"

namespace weft::plan {
namespace {

struct Verdict {
  bool runs = false;  // to its end
  bool fast = true, slow = true;
};

Verdict Judge(const std::vector<Program>& programs) {
  std::vector<std::unique_ptr<RaceDetector>> detectors;
  std::vector<std::unique_ptr<CellDetector>> cells;
  for (const Program& program : programs) {
    detectors.push_back(std::make_unique<RaceDetector>(program));
    cells.push_back(std::make_unique<CellDetector>(program));
  }
  Verdict verdict;
  const auto visit = [&](const Act& act) {
    verdict.fast = verdict.fast && cells[act.stage]->Perform(act);
    verdict.slow = verdict.slow && detectors[act.stage]->Perform(act).ok();
    return absl::OkStatus();
  };
  verdict.runs = Execute(programs, visit).ok();
  for (size_t s = 0; s < programs.size(); ++s) {
    verdict.fast = verdict.fast && cells[s]->KeepsMetrics();
    verdict.slow = verdict.slow && detectors[s]->CheckMetrics().ok();
  }
  return verdict;
}

// Moves some buffers, with their views, by a few lines.
void Scatter(Plan& plan, std::mt19937_64& random) {
  Stage& stage = *plan.mutable_stages(static_cast<int>(random() % plan.stages_size()));
  const int b = static_cast<int>(random() % stage.buffers_size());
  const int64_t shift = 64 * (static_cast<int64_t>(random() % 9) - 4);
  for (int v = 0; v < stage.buffers_size(); ++v) {
    Buffer& view = *stage.mutable_buffers(v);
    if (v != b && view.alias_of() != b + 1) continue;
    view.set_offset(view.offset() + shift);
    for (int64_t& offset : *view.mutable_slot_offsets()) offset += shift;
  }
}

TEST(CellDetector, PassesWhatTheRaceDetectorPasses) {
  const absl::StatusOr<std::vector<CorpusPlan>> corpus = ReadCorpus("tests/plans");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  std::mt19937_64 random(6174);
  Mutator mutator(6174);
  int passed = 0, refused = 0;
  for (const CorpusPlan& base : *corpus) {
    for (int i = 0; i < 300; ++i) {
      Plan plan = base.plan;
      if (i % 3 > 0 && base.plan.stages_size() > 0) Scatter(plan, random);
      if (i % 2 == 1) mutator.Mutate(&plan);
      std::vector<Program> programs;
      if (plan.header().micro_batches() > 64 || !Validate(plan, &programs).ok()) continue;
      const Verdict verdict = Judge(programs);
      if (!verdict.runs) continue;
      ++(verdict.slow ? passed : refused);
      ASSERT_EQ(verdict.fast, verdict.slow) << base.file << ", try " << i << "\n" << plan.DebugString();
    }
  }
  EXPECT_GT(passed, 300);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace weft::plan
