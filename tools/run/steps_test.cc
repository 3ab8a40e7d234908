#include "tools/run/steps.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace weft::run {
namespace {

// What is called, in order: b0 begins step 0, e ends what has begun, t0 takes, r0 reports.
struct Calls {
  std::string text;
  int running = 0;
  int64_t rests = -1, stops = -1, fails = -1,
          breaks = -1;  // the step whose report needs rest, stops, fails; whose end fails

  StepLoop Loop() {
    return {.begin =
                [this](int64_t step) {
                  EXPECT_EQ(running++, 0);
                  absl::StrAppend(&text, "b", step, " ");
                  begun = step;
                },
            .end = [this]() -> absl::Status {
              EXPECT_EQ(running--, 1);
              absl::StrAppend(&text, "e ");
              return begun == breaks ? absl::InternalError("broken") : absl::OkStatus();
            },
            .take = [this](int64_t step) -> absl::StatusOr<bool> {
              EXPECT_EQ(running, 0);
              absl::StrAppend(&text, "t", step, " ");
              return step != rests;
            },
            .report = [this](int64_t step) -> absl::StatusOr<bool> {
              if (step == rests) EXPECT_EQ(running, 0);
              absl::StrAppend(&text, "r", step, " ");
              if (step == fails) return absl::AbortedError("not finite");
              return step != stops;
            }};
  }
  int64_t begun = -1;
};

TEST(StepsTest, TheNextBeginsBeforeOneIsReported) {
  Calls calls;
  EXPECT_TRUE(RunSteps(2, 5, calls.Loop()).ok());
  EXPECT_EQ(calls.text, "b2 e t2 b3 r2 e t3 b4 r3 e t4 r4 ");
  EXPECT_EQ(calls.running, 0);
}

TEST(StepsTest, NothingRunsWhileAReportNeedsRest) {
  Calls calls{.rests = 1};
  EXPECT_TRUE(RunSteps(0, 4, calls.Loop()).ok());
  EXPECT_EQ(calls.text, "b0 e t0 b1 r0 e t1 r1 b2 e t2 b3 r2 e t3 r3 ");
}

TEST(StepsTest, AStopComesBehindWhatHasBegun) {
  Calls calls{.stops = 1};
  EXPECT_TRUE(RunSteps(0, 9, calls.Loop()).ok());
  EXPECT_EQ(calls.text, "b0 e t0 b1 r0 e t1 b2 r1 e t2 r2 ");
  Calls known{.rests = 1, .stops = 1};
  EXPECT_TRUE(RunSteps(0, 9, known.Loop()).ok());
  EXPECT_EQ(known.text, "b0 e t0 b1 r0 e t1 r1 ");
}

TEST(StepsTest, AnErrorLeavesNothingRunning) {
  Calls calls{.fails = 1};
  EXPECT_EQ(RunSteps(0, 9, calls.Loop()).message(), "not finite");
  EXPECT_EQ(calls.text, "b0 e t0 b1 r0 e t1 b2 r1 e ");
  Calls broken{.breaks = 1};
  EXPECT_EQ(RunSteps(0, 9, broken.Loop()).message(), "broken");
  EXPECT_EQ(broken.text, "b0 e t0 b1 r0 e ");
}

TEST(StepsTest, NoStepsAreNone) {
  Calls calls;
  EXPECT_TRUE(RunSteps(3, 3, calls.Loop()).ok());
  EXPECT_EQ(calls.text, "");
}

}  // namespace
}  // namespace weft::run
