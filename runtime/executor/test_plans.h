// Plans written by hand for tests of the executor, and where their inputs come
// from. One model in several layouts: loss = sum of x * w over the rows of x,
// w starts at 1 and goes down by the gradient after every step.
#ifndef WEFT_RUNTIME_EXECUTOR_TEST_PLANS_H_
#define WEFT_RUNTIME_EXECUTOR_TEST_PLANS_H_

#include <google/protobuf/text_format.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/executor/ports.h"
#include "runtime/plan/load.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/proof/verify.h"

namespace weft::executor {

// Parses and verifies.
inline plan::Plan PlanOf(const std::string& text) {
  plan::Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
  // As from a file: a parser of text leaves maps to be completed by the first
  // reader, which the thread sanitizer cannot see into.
  EXPECT_TRUE(plan.ParseFromString(plan.SerializeAsString()));
  plan.mutable_header()->set_version(plan::kPlanVersion);
  plan.mutable_header()->set_target("cpu");
  plan.mutable_header()->set_training(true);
  for (auto& placement : *plan.mutable_placements()) placement.set_device("cpu");
  const absl::Status status = plan::Verify(plan);
  EXPECT_TRUE(status.ok()) << status;
  return plan;
}

// One rank, one stream, one actor: x[4,3] in one micro-batch.
inline plan::Plan OneRank() {
  return PlanOf(R"(
    header { micro_batches: 1 }
    placements { axes { name: "data" size: 1 } ranks: 0 }
    stages {
      arena_bytes: 320
      buffers { name: "w" dtype: F32 shape: 3 sbp {} kind: PARAMETER offset: 0 slots: 1
                init { name: "fill" attributes { key: "value" value { float: 1 } } } }
      buffers { name: "x" dtype: F32 shape: [4, 3] sbp {} kind: INPUT offset: 64 slots: 1 }
      buffers { name: "loss" dtype: F32 sbp {} kind: OUTPUT offset: 128 slots: 1 }
      buffers { name: "gradient" dtype: F32 shape: 3 sbp {} kind: GRADIENT offset: 192 slots: 1 }
      actors { name: "step" stream: 0 section: MICRO
               kernels { name: "input" outputs: 1 attributes { key: "name" value { string: "x" } } }
               kernels { name: "loss" inputs: [1, 0] outputs: 2 location: "linear.mlir:3:1" }
               kernels { name: "column_sum" inputs: 1 outputs: 3 }
               kernels { name: "descend" inputs: [0, 3] outputs: 0 } }
      streams { kind: COMPUTE name: "compute" runs { actors: 0 repeat: 1 } }
    }
    metrics { name: "loss" buffer: 2 })");
}

// Two ranks that split the rows, two micro-batches of [2,3]; collectives on a
// stream of their own.
inline plan::Plan TwoRanks() {
  return PlanOf(R"(
    header { micro_batches: 2 }
    placements { axes { name: "data" size: 2 } ranks: [0, 1] }
    stages {
      arena_bytes: 704
      buffers { name: "w" dtype: F32 shape: 3 sbp {} kind: PARAMETER offset: 0 slots: 1
                init { name: "fill" attributes { key: "value" value { float: 1 } } } }
      buffers { name: "x" dtype: F32 shape: [2, 3] sbp { kind: SPLIT } kind: INPUT offset: 64 slots: 2 }
      buffers { name: "loss" dtype: F32 sbp { kind: PARTIAL_SUM } offset: 192 slots: 1 }
      buffers { name: "gradient" dtype: F32 shape: 3 sbp { kind: PARTIAL_SUM } kind: GRADIENT offset: 256 slots: 1 }
      buffers { name: "loss_sum" dtype: F32 sbp { kind: PARTIAL_SUM } offset: 320 slots: 1 }
      buffers { name: "gradient_sum" dtype: F32 shape: 3 sbp { kind: PARTIAL_SUM } kind: GRADIENT offset: 384 slots: 1 }
      buffers { name: "loss_all" dtype: F32 sbp {} kind: OUTPUT offset: 448 slots: 1 }
      buffers { name: "gradient_all" dtype: F32 shape: 3 sbp {} kind: COMMUNICATION offset: 512 slots: 1 }
      actors { name: "read" stream: 2 section: MICRO writes: 1
               kernels { name: "input" outputs: 1 attributes { key: "name" value { string: "x" } } } }
      actors { name: "backward" stream: 0 section: MICRO reads: 1 writes: [4, 5]
               kernels { name: "loss" inputs: [1, 0] outputs: 2 }
               kernels { name: "accumulate" inputs: [2, 4] outputs: 4 }
               kernels { name: "column_sum" inputs: 1 outputs: 3 }
               kernels { name: "accumulate" inputs: [3, 5] outputs: 5 } }
      actors { name: "reduce_loss" stream: 1 section: STEP reads: 4 writes: 6 collectives { axes: 0 input: 4 output: 6 } }
      actors { name: "reduce_gradient" stream: 1 section: STEP reads: 5 writes: 7 collectives { axes: 0 input: 5 output: 7 } }
      actors { name: "update" stream: 0 section: STEP reads: 7 kernels { name: "descend" inputs: [0, 7] outputs: 0 } }
      streams { kind: COMPUTE name: "compute" runs { actors: 1 repeat: 2 } runs { actors: 4 repeat: 1 } }
      streams { kind: COMMUNICATION name: "communication" runs { actors: [2, 3] repeat: 1 } }
      streams { kind: HOST name: "host" runs { actors: 0 repeat: 2 } }
    }
    metrics { name: "loss" buffer: 6 })");
}

// The same with both sums in one operation.
inline plan::Plan TwoRanksBundled() {
  plan::Plan plan = TwoRanks();
  plan::Stage& stage = *plan.mutable_stages(0);
  plan::Actor& both = *stage.mutable_actors(2);
  both.set_name("reduce");
  both.mutable_collectives()->MergeFrom(stage.actors(3).collectives());
  both.mutable_reads()->MergeFrom(stage.actors(3).reads());
  both.mutable_writes()->MergeFrom(stage.actors(3).writes());
  stage.mutable_actors()->DeleteSubrange(3, 1);
  stage.mutable_streams(0)->mutable_runs(1)->set_actors(0, 3);
  stage.mutable_streams(1)->mutable_runs(0)->mutable_actors()->RemoveLast();
  const absl::Status status = plan::Verify(plan);
  EXPECT_TRUE(status.ok()) << status;
  return plan;
}

// Two stages of two ranks: the first scales x by 2 and splits its rows, the
// second has the loss and splits the columns. Four micro-batches of [2,4].
inline plan::Plan TwoStages() {
  return PlanOf(R"(
    header { micro_batches: 4 }
    placements { axes { name: "tensor" size: 2 } ranks: [0, 1] }
    placements { axes { name: "tensor" size: 2 } ranks: [2, 3] }
    stages {
      placement: 0 arena_bytes: 320
      buffers { name: "x" dtype: F32 shape: [2, 4] sbp { kind: SPLIT dim: 0 } kind: INPUT offset: 0 slots: 1 }
      buffers { name: "y" dtype: F32 shape: [2, 4] sbp { kind: SPLIT dim: 0 } offset: 64 slots: 2 }
      actors { name: "forward" stream: 0 section: MICRO writes: 1
               kernels { name: "input" outputs: 0 attributes { key: "name" value { string: "x" } } }
               kernels { name: "scale" inputs: 0 outputs: 1 attributes { key: "factor" value { float: 2 } } } }
      actors { name: "send_y" stream: 1 section: MICRO reads: 1 send: 0 }
      streams { kind: COMPUTE name: "compute" runs { actors: 0 repeat: 4 } }
      streams { kind: COMMUNICATION name: "communication" runs { actors: 1 repeat: 4 } }
    }
    stages {
      placement: 1 arena_bytes: 640
      buffers { name: "y" dtype: F32 shape: [2, 4] sbp { kind: SPLIT dim: 1 } kind: COMMUNICATION offset: 0 slots: 3 }
      buffers { name: "w" dtype: F32 shape: 4 sbp { kind: SPLIT dim: 0 } kind: PARAMETER offset: 192 slots: 1
                init { name: "fill" attributes { key: "value" value { float: 1 } } } }
      buffers { name: "loss" dtype: F32 sbp { kind: PARTIAL_SUM } offset: 256 slots: 1 }
      buffers { name: "loss_sum" dtype: F32 sbp { kind: PARTIAL_SUM } offset: 320 slots: 1 }
      buffers { name: "loss_all" dtype: F32 sbp {} kind: OUTPUT offset: 384 slots: 1 }
      buffers { name: "gradient" dtype: F32 shape: 4 sbp { kind: SPLIT dim: 0 } kind: GRADIENT offset: 448 slots: 1 }
      buffers { name: "gradient_sum" dtype: F32 shape: 4 sbp { kind: SPLIT dim: 0 } kind: GRADIENT offset: 512 slots: 1 }
      actors { name: "receive_y" stream: 1 section: MICRO writes: 0 receive: 0 }
      actors { name: "backward" stream: 0 section: MICRO reads: 0 writes: [3, 6]
               kernels { name: "loss" inputs: [0, 1] outputs: 2 }
               kernels { name: "accumulate" inputs: [2, 3] outputs: 3 }
               kernels { name: "column_sum" inputs: 0 outputs: 5 }
               kernels { name: "accumulate" inputs: [5, 6] outputs: 6 } }
      actors { name: "reduce_loss" stream: 1 section: STEP reads: 3 writes: 4 collectives { axes: 0 input: 3 output: 4 } }
      actors { name: "update" stream: 0 section: STEP reads: 6 kernels { name: "descend" inputs: [1, 6] outputs: 1 } }
      streams { kind: COMPUTE name: "compute" runs { actors: 1 repeat: 4 } runs { actors: 3 repeat: 1 } }
      streams { kind: COMMUNICATION name: "communication" runs { actors: 0 repeat: 4 } runs { actors: 2 repeat: 1 } }
    }
    transfers { source_stage: 0 source_buffer: 1 target_stage: 1 target_buffer: 0 }
    metrics { name: "loss" stage: 1 buffer: 4 })");
}

// Element (i, j) of the whole batch of a step, all micro-batches together.
inline float Sample(int64_t step, int64_t row, int64_t column) {
  return static_cast<float>((step * 5 + row * 3 + column * 2) % 7 - 3);
}

// Serves Sample() as field "x".
class SampleSource : public BatchSource {
 public:
  absl::StatusOr<std::unique_ptr<BatchField>> Bind(const Port& port) override {
    if (port.name != "x") return absl::InvalidArgumentError("input `" + port.name + "`: expected `x`");
    return std::make_unique<Field>(port.spec);
  }

 private:
  class Field : public BatchField {
   public:
    explicit Field(TensorSpec spec) : spec_(std::move(spec)) {}
    absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
      for (int64_t i = 0; i < spec_.dims[0]; ++i) {
        for (int64_t j = 0; j < spec_.dims[1]; ++j) {
          const int64_t row = micro_batch * spec_.global_dims[0] + spec_.origin[0] + i;
          static_cast<float*>(tile)[i * spec_.dims[1] + j] = Sample(step, row, spec_.origin[1] + j);
        }
      }
      return absl::OkStatus();
    }

   private:
    const TensorSpec spec_;
  };
};

// What the model does, written down again.
class Reference {
 public:
  Reference(int64_t rows, int64_t columns, float factor = 1) : rows_(rows), factor_(factor), w_(columns, 1.0f) {}
  // The loss before the step's update.
  float Step(int64_t step) {
    float loss = 0;
    std::vector<float> gradient(w_.size(), 0);
    for (int64_t i = 0; i < rows_; ++i) {
      for (size_t j = 0; j < w_.size(); ++j) {
        const float x = factor_ * Sample(step, i, static_cast<int64_t>(j));
        loss += x * w_[j];
        gradient[j] += x;
      }
    }
    for (size_t j = 0; j < w_.size(); ++j) w_[j] -= gradient[j];
    return loss;
  }
  const std::vector<float>& w() const { return w_; }

 private:
  const int64_t rows_;
  const float factor_;
  std::vector<float> w_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_TEST_PLANS_H_
