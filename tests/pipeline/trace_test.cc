// The timeline of a real run obeys the plan: order, registers, credits, transfers.
#include <cstdlib>

#include "gtest/gtest.h"
#include "runtime/plan/load.h"
#include "tests/pipeline/replay.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

struct Traced {
  plan::Plan plan;
  Trace trace;
};

// Compiles the deep job, trains it for three steps with weft-run, and reads what that wrote.
absl::StatusOr<Traced> RunTraced(const Overrides& overrides) {
  absl::StatusOr<plan::Plan> plan = CompileJob("tests/pipeline/deep.job", overrides);
  if (!plan.ok()) return plan.status();
  const std::string folder = testing::TempDir();
  const std::string path = folder + "/a.plan", trace = folder + "/a.json";
  if (absl::Status saved = plan::Save(*plan, path); !saved.ok()) return saved;
  const std::string command = "tools/run/weft-run " + path + " --data tests/oracle/tokens.bin --steps 3 --threads 1 " +
                              "--quiet --trace " + trace;
  if (std::system(command.c_str()) != 0) return absl::InternalError("expected a run, got none: " + command);
  absl::StatusOr<Trace> read = ReadTrace(trace);
  if (!read.ok()) return read.status();
  return Traced{*std::move(plan), *std::move(read)};
}

class TraceTest : public testing::TestWithParam<Overrides> {};

TEST_P(TraceTest, ARunObeysItsPlan) {
  absl::StatusOr<Traced> run = RunTraced(GetParam());
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(Replay(run->plan, run->trace), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, TraceTest,
    testing::Values(Overrides{"dist.pipeline=4", "batch.micro=2"},
                    Overrides{"dist.pipeline=2", "dist.data=2", "dist.tensor=2"},
                    Overrides{"dist.pipeline=2", "dist.data=2", "pipeline.schedule=GPIPE"},
                    Overrides{"dist.pipeline=4", "batch.micro=2", "pipeline={schedule: INTERLEAVED chunks: 2}"},
                    Overrides{"dist.pipeline=4", "batch.micro=2", "pipeline={schedule: ZERO_BUBBLE form: H1}"},
                    Overrides{"dist.pipeline=2", "dist.tensor=2", "pipeline={schedule: ZERO_BUBBLE form: V}"},
                    Overrides{"dist.pipeline=2", "pipeline={stages: {tensor: 2} stages: {data: 4}}"}));

// What the replay would say of runs that never were.
class ForgedTraceTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Traced> run = RunTraced({"dist.pipeline=2", "batch.micro=2"});
    ASSERT_TRUE(run.ok()) << run.status();
    run_ = *std::move(run);
  }

  std::vector<Happened>& Acts(int rank, const std::string& stream) { return run_.trace.at({rank, stream}); }

  // Moves an act to another time; its duration stays.
  static void MoveTo(Happened& act, int64_t begin) {
    act.end += begin - act.begin;
    act.begin = begin;
  }

  void ExpectFault(const std::string& part) {
    const std::vector<std::string> faults = Replay(run_.plan, run_.trace);
    bool found = false;
    for (const std::string& fault : faults) found |= fault.find(part) != std::string::npos;
    EXPECT_TRUE(found) << "expected: " << part << "\ngot: " << (faults.empty() ? "nothing" : faults[0]);
  }

  // The name of the one stream of rank 0 whose name begins so and that acts for every micro-batch.
  std::string StreamOf(const std::string& prefix) {
    for (const auto& [track, acts] : run_.trace) {
      if (track.first == 0 && track.second.rfind(prefix, 0) == 0 && acts.size() == 3 * 8) return track.second;
    }
    ADD_FAILURE() << "no stream " << prefix;
    return "";
  }

  Traced run_;
};

TEST_F(ForgedTraceTest, AnActIsMissing) {
  Acts(1, "compute").pop_back();
  ExpectFault("rank 1 stream compute: expected");
}

TEST_F(ForgedTraceTest, ActsAreSwapped) {
  std::swap(Acts(0, "compute")[0], Acts(0, "compute")[1]);
  ExpectFault("rank 0 stream compute: expected wte.forward of micro-batch 0 in step 0, got graph.forward");
}

TEST_F(ForgedTraceTest, ActsOfAStreamOverlap) {
  Acts(0, "compute")[1].begin = Acts(0, "compute")[0].begin;
  ExpectFault("begins before the act before it has ended");
}

// What is sent is read before it is there: the send moves to before everything.
TEST_F(ForgedTraceTest, ARegisterIsReadBeforeItIsFull) {
  MoveTo(Acts(0, StreamOf("send "))[0], 0);
  ExpectFault("has ended, which fills");
}

// The second batch is read into a slot before the first of the micro-batches that had it is used up.
TEST_F(ForgedTraceTest, ASlotIsWrittenBeforeItIsFree) {
  std::vector<Happened>& acts = Acts(0, "host");
  const int64_t begin = acts[0].begin;
  for (size_t i = 0; i < 8; ++i) acts[i].begin = acts[i].end = begin;  // all of the first step, at once
  ExpectFault("has ended, which reads a slot of input/");
}

TEST_F(ForgedTraceTest, AReceiveEndsBeforeItsSendBegins) {
  for (auto& [track, acts] : run_.trace) {
    if (track.first != 1 || track.second.rfind("receive ", 0) != 0) continue;
    acts[0].begin = acts[0].end = -1;
  }
  ExpectFault("is not under way while");
}

TEST_F(ForgedTraceTest, AStepBeginsTooEarly) {
  std::vector<Happened>& acts = Acts(0, "host");
  MoveTo(acts[8], acts[7].end);
  acts[8].end = acts[8].begin;
  ExpectFault("rank 0: step 1 begins before the one before it has ended");
}

}  // namespace
}  // namespace weft::tests
