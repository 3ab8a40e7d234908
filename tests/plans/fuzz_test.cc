// No plan passes the verifier and then hangs, crashes or corrupts the runtime.
#include <gtest/gtest.h>

#include "tests/plans/fuzzer.h"

namespace weft::plan {
namespace {

TEST(Fuzz, BasesRun) {
  const absl::StatusOr<std::vector<Base>> bases = ReadBases({}, testing::TempDir());
  ASSERT_TRUE(bases.ok()) << bases.status();
  for (const Base& base : *bases) {
    SCOPED_TRACE(base.name);
    const Trial trial = Try(base.plan, {.steps = 2});
    EXPECT_TRUE(trial.fault.ok()) << trial.fault;
    EXPECT_TRUE(trial.refused.ok()) << trial.refused;
  }
}

TEST(Fuzz, WhatIsVerifiedRuns) {
  absl::StatusOr<std::vector<Base>> bases = ReadBases({}, testing::TempDir());
  ASSERT_TRUE(bases.ok()) << bases.status();
  Fuzzer fuzzer(*std::move(bases), 20251121, {});
  for (int64_t n = 0; fuzzer.counts().loaded < 150 && n < 4000; ++n) {
    const absl::Status status = fuzzer.Try(n);
    ASSERT_TRUE(status.ok()) << status << "\nbazel run //tests/plans:fuzz -- --seed 20251121 --print " << n;
  }
  EXPECT_GE(fuzzer.counts().loaded, 150);
  EXPECT_GT(fuzzer.counts().made, 2 * fuzzer.counts().verified) << "too tame";
}

}  // namespace
}  // namespace weft::plan
