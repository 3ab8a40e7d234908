// Which buffers of a stage may share bytes where other streams send, receive and reduce beside the computation.
#include "compiler/memory/blocks.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/semantics/execution.h"

namespace weft::compiler {
namespace {

// The conflicts of one stage of a plan, by the names of buffers.
class Conflicts {
 public:
  // The slots of a buffer lie together, each of those in `apart` for itself.
  explicit Conflicts(const std::string& text, int stage = 0, const std::vector<std::string>& apart = {}) {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan_));
    programs_ = plan::ProgramsOf(plan_);
    std::vector<plan::Orders> orders(programs_.begin(), programs_.end());
    const absl::Status status = plan::Execute(programs_, [&](const plan::Act& act) {
      orders[act.stage].Add(act);
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    const plan::Program& program = programs_[stage];
    std::vector<int32_t> together;
    for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
      const bool alone = std::find(apart.begin(), apart.end(), program.buffer(b).name()) != apart.end();
      together.push_back(alone ? 1 : program.slots[b]);
    }
    blocks_ = std::make_unique<Blocks>(program, orders[stage], program.slots, together);
    for (int32_t i = 0; i < blocks_->size(); ++i) {
      const std::string& name = program.buffer((*blocks_)[i].root).name();
      const int slot = seen_[name]++;
      const bool alone = std::find(apart.begin(), apart.end(), name) != apart.end();
      places_[alone ? name + std::to_string(slot) : name] = i;
    }
  }

  bool Meet(const std::string& a, const std::string& b) const {
    return blocks_->Conflict(places_.at(a), places_.at(b));
  }
  const Block& Of(const std::string& name) const { return (*blocks_)[places_.at(name)]; }

 private:
  plan::Plan plan_;
  std::vector<plan::Program> programs_;
  std::unique_ptr<Blocks> blocks_;
  std::map<std::string, int> seen_, places_;
};

std::string Buffers(const std::vector<std::string>& names, int slots = 1) {
  std::string text;
  for (const std::string& name : names) {
    text += "buffers { name: '" + name + "' dtype: F32 shape: 16 slots: " + std::to_string(slots) + " }\n";
  }
  return text;
}

std::string OneStage(int micro_batches, const std::string& stage) {
  return "header { micro_batches: " + std::to_string(micro_batches) +
         " }\nplacements { device: 'cpu' ranks: 0 }\nstages {\n" + stage + "}\n";
}

// t and k; k and g.
constexpr char kForwardBackward[] = R"(
  actors {
    name: "forward" phase: FORWARD
    kernels { name: "fill" outputs: 0 }
    kernels { name: "k" inputs: 0 outputs: 1 }
    writes: 1
  }
  actors {
    name: "backward" phase: BACKWARD
    kernels { name: "k" inputs: 1 outputs: 2 }
    kernels { name: "k" inputs: 2 }
    reads: 1
  }
)";

// Where forward and backward of a micro-batch follow each other, what is kept between them lives within the pair.
TEST(BlocksTest, OneMicroBatchAfterTheOther) {
  const Conflicts stage(OneStage(2, Buffers({"t", "k", "g"}) + kForwardBackward +
                                        "streams { name: 'compute' runs { actors: [0, 1] repeat: 2 } }"));
  EXPECT_TRUE(stage.Meet("t", "k"));
  EXPECT_TRUE(stage.Meet("k", "g"));
  EXPECT_FALSE(stage.Meet("t", "g"));
}

// Where all forwards come first, what they keep lives through the rest of them, slot by slot: the first slot is free
// when the second micro-batch's backward runs.
TEST(BlocksTest, AllForwardsFirst) {
  const std::string text =
      OneStage(2, Buffers({"t"}) + Buffers({"k"}, 2) + Buffers({"g"}) + kForwardBackward +
                      "streams { name: 'compute' runs { actors: 0 repeat: 2 } runs { actors: 1 repeat: 2 } }");
  const Conflicts together(text), apart(text, 0, {"k"});
  EXPECT_TRUE(together.Meet("t", "k"));
  EXPECT_TRUE(together.Meet("k", "g"));
  EXPECT_FALSE(together.Meet("t", "g"));
  EXPECT_EQ(together.Of("k").bytes, 128);
  EXPECT_TRUE(apart.Meet("t", "k0"));
  EXPECT_TRUE(apart.Meet("t", "k1")) << "the second micro-batch makes t and k";
  EXPECT_TRUE(apart.Meet("k0", "k1"));
  EXPECT_TRUE(apart.Meet("k0", "g"));
  EXPECT_TRUE(apart.Meet("k1", "g"));
  EXPECT_EQ(apart.Of("k1").bytes, 64);
  EXPECT_EQ(apart.Of("k0").unit, 0);
  EXPECT_EQ(apart.Of("k1").unit, 1);
  EXPECT_EQ(apart.Of("g").unit, -1) << "of one unit alone";
}

// What is received may come as soon as its slot is free, and what is sent may still be on its way in all that follows.
TEST(BlocksTest, TransfersOfMicroBatches) {
  const Conflicts stage(R"(
header { micro_batches: 2 }
placements { device: "cpu" ranks: 0 }
placements { device: "cpu" ranks: 1 }
stages {
)" + Buffers({"r", "a", "s", "b"}) +
                        R"(
  actors { name: "receive" stream: 1 receive: 0 writes: 0 }
  actors {
    name: "forward" phase: FORWARD
    kernels { name: "k" inputs: 0 outputs: 1 }
    kernels { name: "k" inputs: 1 outputs: 2 }
    reads: 0
    writes: 2
  }
  actors { name: "send" stream: 2 send: 1 reads: 2 }
  actors {
    name: "backward" phase: BACKWARD
    kernels { name: "fill" outputs: 3 }
    kernels { name: "k" inputs: 3 }
  }
  streams { name: "compute" runs { actors: [1, 3] repeat: 2 } }
  streams { name: "receive 0" kind: COMMUNICATION runs { actors: 0 repeat: 2 } }
  streams { name: "send 1" kind: COMMUNICATION runs { actors: 2 repeat: 2 } }
}
stages {
  placement: 1
)" + Buffers({"x", "y"}) +
                        R"(
  actors { name: "forward" phase: FORWARD kernels { name: "fill" outputs: 0 } writes: 0 }
  actors { name: "send" stream: 1 send: 0 reads: 0 }
  actors { name: "receive" stream: 2 receive: 1 writes: 1 }
  actors { name: "backward" phase: BACKWARD kernels { name: "k" inputs: 1 } reads: 1 }
  streams { name: "compute" runs { actors: 0 repeat: 2 } runs { actors: 3 repeat: 2 } }
  streams { name: "send 0" kind: COMMUNICATION runs { actors: 1 repeat: 2 } }
  streams { name: "receive 1" kind: COMMUNICATION runs { actors: 2 repeat: 2 } }
}
transfers { source_stage: 1 source_buffer: 0 target_stage: 0 target_buffer: 0 }
transfers { source_stage: 0 source_buffer: 2 target_stage: 1 target_buffer: 1 }
)");
  for (const char* other : {"a", "s", "b"}) EXPECT_TRUE(stage.Meet("r", other)) << other;
  for (const char* other : {"r", "a", "b"}) EXPECT_TRUE(stage.Meet("s", other)) << other;
  EXPECT_FALSE(stage.Meet("a", "b"));
}

// A reduction beside the backward starts when its sum is complete: its result may take what the forward used, and not
// what the rest of the backward does.
TEST(BlocksTest, ReductionBesideTheBackward) {
  const Conflicts stage(R"(
header { micro_batches: 1 }
placements { device: "cpu" axes { name: "data" size: 2 } ranks: [0, 1] }
stages {
)" + Buffers({"a", "sum", "c", "all"}) +
                        R"(
  actors {
    name: "forward" phase: FORWARD
    kernels { name: "fill" outputs: 0 }
    kernels { name: "k" inputs: 0 }
  }
  actors { name: "h.1.backward" phase: BACKWARD kernels { name: "fill" outputs: 1 } writes: 1 }
  actors {
    name: "h.0.backward" phase: BACKWARD
    kernels { name: "fill" outputs: 2 }
    kernels { name: "k" inputs: 2 }
  }
  actors { name: "reduce" stream: 1 section: STEP collectives { kind: ALL_REDUCE input: 1 output: 3 } reads: 1 writes: 3 }
  actors { name: "update" section: STEP kernels { name: "k" inputs: 3 } reads: 3 }
  streams { name: "compute" runs { actors: [0, 1, 2] repeat: 1 } runs { actors: 4 repeat: 1 } }
  streams { name: "communication" kind: COMMUNICATION runs { actors: 3 repeat: 1 } }
}
)");
  EXPECT_FALSE(stage.Meet("a", "sum"));
  EXPECT_FALSE(stage.Meet("a", "all"));
  EXPECT_FALSE(stage.Meet("a", "c"));
  EXPECT_TRUE(stage.Meet("sum", "c"));
  EXPECT_TRUE(stage.Meet("all", "c"));
  EXPECT_TRUE(stage.Meet("sum", "all"));
}

// A metric is looked at when the step is over, so what the communication stream does behind it has other bytes.
TEST(BlocksTest, MetricsOutliveOtherStreams) {
  const Conflicts stage(R"(
header { micro_batches: 1 }
placements { device: "cpu" axes { name: "data" size: 2 } ranks: [0, 1] }
metrics { name: "loss" buffer: 1 }
stages {
)" + Buffers({"part", "loss", "sum", "all"}) +
                        R"(
  actors { name: "forward" phase: FORWARD kernels { name: "fill" outputs: 0 } writes: 0 }
  actors { name: "backward" phase: BACKWARD kernels { name: "fill" outputs: 2 } writes: 2 }
  actors { name: "mean" stream: 1 section: STEP collectives { kind: ALL_REDUCE input: 0 output: 1 } reads: 0 writes: 1 }
  actors { name: "reduce" stream: 1 section: STEP collectives { kind: ALL_REDUCE input: 2 output: 3 } reads: 2 writes: 3 }
  streams { name: "compute" runs { actors: [0, 1] repeat: 1 } }
  streams { name: "communication" kind: COMMUNICATION runs { actors: [2, 3] repeat: 1 } }
}
)");
  EXPECT_FALSE(stage.Meet("part", "all"));
  EXPECT_TRUE(stage.Meet("loss", "all"));
}

// Stage 0 receives what stage 1 makes of what stage 0 has sent, so the one is gone when the other comes. Stage 1 has
// both at once while it computes.
TEST(BlocksTest, AnAnswerComesAfterItsQuestion) {
  const std::string text = R"(
header { micro_batches: 1 }
placements { device: "cpu" ranks: 0 }
placements { device: "cpu" ranks: 1 }
stages {
)" + Buffers({"s", "r"}) + R"(
  actors { name: "forward" phase: FORWARD kernels { name: "fill" outputs: 0 } writes: 0 }
  actors { name: "send" stream: 1 send: 0 reads: 0 }
  actors { name: "receive" stream: 2 receive: 1 writes: 1 }
  actors { name: "backward" phase: BACKWARD kernels { name: "k" inputs: 1 } reads: 1 }
  streams { name: "compute" runs { actors: [0, 3] repeat: 1 } }
  streams { name: "send 0" kind: COMMUNICATION runs { actors: 1 repeat: 1 } }
  streams { name: "receive 1" kind: COMMUNICATION runs { actors: 2 repeat: 1 } }
}
stages {
  placement: 1
)" + Buffers({"x", "y"}) + R"(
  actors { name: "receive" stream: 1 receive: 0 writes: 0 }
  actors { name: "forward" phase: FORWARD kernels { name: "k" inputs: 0 outputs: 1 } reads: 0 writes: 1 }
  actors { name: "send" stream: 2 send: 1 reads: 1 }
  streams { name: "compute" runs { actors: 1 repeat: 1 } }
  streams { name: "receive 0" kind: COMMUNICATION runs { actors: 0 repeat: 1 } }
  streams { name: "send 1" kind: COMMUNICATION runs { actors: 2 repeat: 1 } }
}
transfers { source_stage: 0 source_buffer: 0 target_stage: 1 target_buffer: 0 }
transfers { source_stage: 1 source_buffer: 1 target_stage: 0 target_buffer: 1 }
)";
  EXPECT_FALSE(Conflicts(text, 0).Meet("s", "r"));
  EXPECT_TRUE(Conflicts(text, 1).Meet("x", "y"));
}

}  // namespace
}  // namespace weft::compiler
