#include "runtime/measure/largest.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace weft::plan {
namespace {

// Two layers, each with a gathered activation that is kept and a sum of another
// line; and a tensor of no layer.
constexpr const char* kPlan = R"pb(
  header { micro_batches: 4 }
  placements {
    axes { name: "tensor" size: 2 }
    device: "cpu"
    ranks: 0
    ranks: 1
  }
  stages {
    buffers {
      name: "h.0.mlp/add.3"
      dtype: F32
      shape: 32
      sbp { kind: SPLIT }
      kind: ACTIVATION
      slots: 2
    }
    buffers {
      name: "h.0.mlp/box.4"
      dtype: F32
      shape: 32
      sbp { kind: BROADCAST }
      kind: ACTIVATION
      slots: 2
    }
    buffers {
      name: "h.1.mlp/add.7"
      dtype: F32
      shape: 32
      sbp { kind: SPLIT }
      kind: ACTIVATION
      slots: 1
    }
    buffers {
      name: "h.1.mlp/box.8"
      dtype: F32
      shape: 32
      sbp { kind: BROADCAST }
      kind: ACTIVATION
      slots: 1
    }
    buffers {
      name: "h.1.mlp/add.9"
      dtype: F32
      shape: 32
      sbp { kind: SPLIT }
      kind: ACTIVATION
      slots: 1
    }
    buffers {
      name: "wte.2"
      dtype: F32
      shape: 64
      sbp { kind: BROADCAST }
      kind: ACTIVATION
      slots: 1
    }
    buffers {
      name: "h.1.mlp/box.10"
      dtype: BF16
      shape: 32
      sbp { kind: BROADCAST }
      kind: ACTIVATION
      slots: 1
    }
    streams { name: "compute" }
    actors {
      name: "forward"
      kernels { name: "add" outputs: 0 location: "m.mlir:3:8 in h.0.mlp" }
      kernels { name: "add" outputs: 2 location: "m.mlir:3:8 in h.1.mlp" }
      kernels { name: "add" outputs: 4 location: "m.mlir:5:8 in h.1.mlp" }
    }
    actors {
      name: "gather"
      collectives { kind: ALL_GATHER axes: 0 input: 0 output: 1 }
      collectives { kind: ALL_GATHER axes: 0 input: 2 output: 3 }
    }
  }
)pb";

class Largest : public testing::Test {
 protected:
  Largest() {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kPlan, &plan_));
    program_ = ProgramOf(plan_, 0);
    memory_.live = {{1, 256, 2}, {0, 128, 2}, {3, 128, 1}, {5, 256, 1}, {2, 64, 1}, {4, 64, 1}, {6, 64, 1}};
  }

  Plan plan_;
  Program program_;
  StageMemory memory_;
};

TEST_F(Largest, CountsWhatLayersMakeAlikeTogether) {
  const std::vector<AlikeTensors> largest = LargestOf(program_, memory_);
  ASSERT_EQ(largest.size(), 5u);
  EXPECT_EQ(largest[0].name, "h.*.mlp/box.*");
  EXPECT_EQ(largest[0].bytes, 256 + 128);
  EXPECT_EQ(largest[0].tensors, 2);
  EXPECT_EQ(largest[0].CountText(), "2 tensors, for 1 to 2 micro-batches");
  EXPECT_EQ(largest[0].origin, "m.mlir:3:8 in h.*.mlp") << "of what is gathered: that has a line";
  EXPECT_EQ(largest[1].name, "wte.2") << "one tensor keeps its name";
  EXPECT_EQ(largest[1].CountText(), "");
  EXPECT_EQ(largest[2].name, "h.*.mlp/add.*");
  EXPECT_EQ(largest[2].bytes, 128 + 64);
}

TEST_F(Largest, KeepsOtherLinesAndTypesApart) {
  const std::vector<AlikeTensors> largest = LargestOf(program_, memory_);
  ASSERT_EQ(largest.size(), 5u);
  EXPECT_EQ(largest[3].name, "h.1.mlp/add.9");
  EXPECT_EQ(largest[3].origin, "m.mlir:5:8 in h.1.mlp");
  EXPECT_EQ(largest[4].name, "h.1.mlp/box.10");
  EXPECT_EQ(largest[4].origin, "");
}

TEST_F(Largest, KeepsWhatIsTheSameInTheNames) {
  memory_.live = {{2, 64, 1}, {0, 64, 1}};
  plan_.mutable_stages(0)->mutable_buffers(2)->set_name("h.1.mlp/add.3");
  EXPECT_EQ(LargestOf(program_, memory_)[0].name, "h.*.mlp/add.3");
}

TEST_F(Largest, SaysALineEach) {
  memory_.at_peak[static_cast<int>(Category::kParameters)] = 3 << 20;
  memory_.at_peak[static_cast<int>(Category::kActivations)] = 256;
  EXPECT_EQ(
      PeakText(program_, memory_, 2),
      "\n  at the peak: parameters 3.00 MiB, activations 256 B"
      "\n  the largest tensors there:"
      "\n    384 B  `h.*.mlp/box.*` f32[32] (2 tensors, for 1 to 2 micro-batches, workspace, made at m.mlir:3:8 in "
      "h.*.mlp)"
      "\n    256 B  `wte.2` f32[64] (activations)");
}

}  // namespace
}  // namespace weft::plan
