#include "runtime/executor/segments.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/host/device.h"
#include "runtime/executor/program_spec.h"
#include "runtime/plan/program.h"
#include "tests/fixtures/linear_plans.h"

namespace weft::executor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three micro-batches are read on a stream of their own and scaled three times on
// another, the last time for a third stream, once a step.
plan::Plan ThreeScales() {
  const std::string twice = R"(attributes { key: "factor" value { float: 2 } })";
  return PlanOf(absl::StrCat(R"(
    header { micro_batches: 3 }
    placements { axes { name: "data" size: 1 } ranks: 0 }
    stages {
      arena_bytes: 448
      buffers { name: "x" dtype: F32 shape: 3 sbp {} kind: INPUT offset: 0 slots: 2 }
      buffers { name: "y" dtype: F32 shape: 3 sbp {} offset: 128 slots: 1 }
      buffers { name: "z" dtype: F32 shape: 3 sbp {} offset: 192 slots: 1 }
      buffers { name: "g" dtype: F32 shape: 3 sbp {} kind: GRADIENT offset: 256 slots: 1 }
      buffers { name: "h" dtype: F32 shape: 3 sbp {} offset: 320 slots: 1 }
      buffers { name: "u" dtype: F32 shape: 3 sbp {} kind: OUTPUT offset: 384 slots: 1 }
      actors { name: "read" stream: 2 section: MICRO writes: 0
               kernels { name: "input" outputs: 0 attributes { key: "name" value { string: "x" } } } }
      actors { name: "one" stream: 0 section: MICRO reads: 0 writes: 1
               kernels { name: "scale" inputs: 0 outputs: 1 )",
                             twice, R"( } }
      actors { name: "two" stream: 0 section: MICRO reads: 1 writes: 2
               kernels { name: "scale" inputs: 1 outputs: 2 )",
                             twice, R"( } }
      actors { name: "three" stream: 0 section: MICRO reads: 2 writes: 3
               kernels { name: "scale" inputs: 2 outputs: 3 )",
                             twice, R"( } }
      actors { name: "away" stream: 1 section: STEP reads: 3 writes: 4
               kernels { name: "scale" inputs: 3 outputs: 4 )",
                             twice, R"( } }
      actors { name: "end" stream: 0 section: STEP reads: 4 kernels { name: "scale" inputs: 4 outputs: 5 )",
                             twice, R"( } }
      streams { kind: COMPUTE name: "compute" runs { actors: [1, 2, 3] repeat: 3 } runs { actors: 5 repeat: 1 } }
      streams { kind: COMMUNICATION name: "communication" runs { actors: 4 repeat: 1 } }
      streams { kind: HOST name: "host" runs { actors: 0 repeat: 3 } }
    })"));
}

// "one:0 two:0" for each segment of each stream.
std::vector<std::vector<std::string>> Segments(const plan::Plan& plan, const std::vector<int>& kernels) {
  const plan::Program program = plan::ProgramOf(plan, 0);
  const actor::ProgramSpec spec = ProgramSpecOf(program, 0);
  const auto device = device::CreateHostDevice();
  const auto fences = Fences::Create(program, *device);
  EXPECT_TRUE(fences.ok()) << fences.status();
  std::vector<std::vector<std::string>> texts;
  for (const auto& stream : SegmentsOf(spec, **fences, kernels)) {
    texts.emplace_back();
    for (const Segment& segment : stream) {
      std::string text;
      int64_t sum = 0;
      for (const plan::StageAct& act : segment.acts) {
        absl::StrAppend(&text, text.empty() ? "" : " ", spec.actors[act.actor].name, ":", act.micro_batch);
        sum += kernels[act.actor];
      }
      EXPECT_EQ(segment.kernels, sum);
      texts.back().push_back(text);
    }
  }
  return texts;
}

// x has two slots: its reader gives back that of micro-batch 0, for 2; nobody waits for the others.
// Each micro-batch waits for its own x. Only the last of `three` is waited for.
TEST(SegmentsTest, BeginWhereAnActWaitsAndEndWhereOneIsAwaited) {
  const auto segments = Segments(ThreeScales(), {0, 2, 2, 2, 2, 2});
  EXPECT_THAT(segments,
              ElementsAre(ElementsAre("one:0", "two:0 three:0", "one:1 two:1 three:1", "one:2 two:2 three:2", "end:0"),
                          ElementsAre("away:0"), IsEmpty()));
}

TEST(SegmentsTest, AreOfMoreThanOneKernel) {
  const auto segments = Segments(ThreeScales(), {0, 1, 1, 1, 1, 1});
  EXPECT_THAT(segments, ElementsAre(ElementsAre("two:0 three:0", "one:1 two:1 three:1", "one:2 two:2 three:2"),
                                    IsEmpty(), IsEmpty()));
}

TEST(SegmentsTest, StopAtWhatIsNotRecorded) {
  const auto segments = Segments(ThreeScales(), {0, 2, 0, 2, 2, 2});
  EXPECT_THAT(segments[0], ElementsAre("one:0", "three:0", "one:1", "three:1", "one:2", "three:2", "end:0"));
}

TEST(SegmentsTest, TakeSoManyKernels) {
  const int half = static_cast<int>(kMostKernels / 2);
  EXPECT_THAT(Segments(ThreeScales(), {0, half, 1, 1, 1, half - 2})[0], ElementsAre("one:0", "two:0 three:0", "end:0"));
}

}  // namespace
}  // namespace weft::executor
