// Parameters that are narrower in memory than in files, and narrow copies that are kept.
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/abi/float_types.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/proof/verify.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"

namespace weft::executor {
namespace {

using ::testing::ElementsAre;

// From float32 to bf16, or back.
absl::Status Cast(const KernelSpec& spec, const RunContext&, Inputs inputs, Outputs outputs) {
  const bool narrows = spec.inputs[0].dtype == DType::kF32;
  for (int64_t i = 0; i < spec.inputs[0].elements(); ++i) {
    if (narrows) {
      static_cast<BFloat16*>(outputs[0])[i] = Narrow<BFloat16>(In(inputs, 0)[i]);
    } else {
      Out(outputs, 0)[i] = Widen(static_cast<const BFloat16*>(inputs[0])[i]);
    }
  }
  return absl::OkStatus();
}

// What updates make of a parameter, and what they write as its copy, which is something else here.
absl::Status Update(const KernelSpec& spec, const RunContext&, Inputs, Outputs outputs) {
  for (int64_t i = 0; i < spec.outputs[0].elements(); ++i) {
    Out(outputs, 0)[i] = 3;
    static_cast<BFloat16*>(outputs[1])[i] = Narrow<BFloat16>(5);
  }
  return absl::OkStatus();
}

// The last output of a function: two numbers.
class Sink : public ResultSink {
 public:
  absl::StatusOr<std::unique_ptr<ResultField>> Bind(const Port&) override { return std::make_unique<Field>(this); }
  std::vector<float> numbers;

 private:
  struct Field : ResultField {
    explicit Field(Sink* sink) : sink(*sink) {}
    absl::Status Take(int64_t, int64_t, const void* tile) override {
      const auto* const floats = static_cast<const float*>(tile);
      sink.numbers = {floats[0], floats[1]};
      return absl::OkStatus();
    }
    Sink& sink;
  };
};

// A function that gives what it reads of `w` in bf16.
constexpr char kHead[] = R"(
  header { micro_batches: 1 }
  placements { axes { name: "data" size: 1 } ranks: 0 }
  stages {
    arena_bytes: 192
    buffers { name: "w" shape: 2 sbp {} kind: PARAMETER offset: 0 slots: 1
              init { name: "fill" attributes { key: "value" value { float: 0.1 } } } )";
constexpr char kTail[] = R"(
    streams { kind: COMPUTE name: "compute" runs { actors: 0 repeat: 1 } }
  })";

// As PlanOf(), of a function where it trains nothing.
plan::Plan FunctionOf(const std::string& text) {
  plan::Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &plan));
  plan.mutable_header()->set_version(plan::kPlanVersion);
  plan.mutable_header()->set_target("cpu");
  plan.mutable_placements(0)->set_device("cpu");
  return plan;
}

plan::Plan WithCopy(const std::string& update) {
  return PlanOf(absl::StrCat(kHead, R"( dtype: F32 }
    buffers { name: "w/bf16" dtype: BF16 shape: 2 sbp {} kind: WORKING offset: 64 slots: 1
              init { name: "cast" inputs: 0 outputs: 1 } }
    buffers { name: "y" dtype: F32 shape: 2 sbp {} kind: OUTPUT offset: 128 slots: 1 }
    actors { name: "function" kernels { name: "cast" inputs: 1 outputs: 2 }
             kernels { name: "output" inputs: 2 attributes { key: "name" value { string: "y" } } } )",
                             update, "}", kTail));
}

plan::Plan Narrowed() {
  return FunctionOf(absl::StrCat(kHead, R"( dtype: BF16 stored_dtype: F32 }
    buffers { name: "y" dtype: F32 shape: 2 sbp {} kind: OUTPUT offset: 128 slots: 1 }
    actors { name: "function" kernels { name: "cast" inputs: 0 outputs: 1 }
             kernels { name: "output" inputs: 1 attributes { key: "name" value { string: "y" } } } })",
                                 kTail));
}

class CopiesTest : public ::testing::Test {
 protected:
  CopiesTest() {
    kernels_.Register("cast", &FunctionKernel<&Cast>::Create);
    kernels_.Register("update", &FunctionKernel<&Update>::Create);
  }

  void Start(const plan::Plan& plan) {
    plan_ = plan;
    ASSERT_TRUE(plan::Verify(plan_).ok()) << plan::Verify(plan_);
    auto cluster = LocalCluster::Create(plan_, {.kernels = &kernels_, .sink = &sink_});
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    cluster_ = *std::move(cluster);
    ASSERT_TRUE(cluster_->Initialize().ok());
  }

  // What step `step` gives.
  std::vector<float> Step(int64_t step) {
    EXPECT_TRUE(cluster_->Step(step).ok());
    return sink_.numbers;
  }

  const StateTile& Tile() { return cluster_->executor(0).state()[0]; }
  void Fill(float a, float b) {
    EXPECT_EQ(Tile().spec.ToString(), "f32[2]");
    const auto fill = [&](void* bytes) {
      const float numbers[] = {a, b};
      std::memcpy(bytes, numbers, sizeof(numbers));
      return absl::OkStatus();
    };
    EXPECT_TRUE(cluster_->executor(0).LoadTile(Tile(), fill).ok());
  }
  std::vector<float> Saved() {
    std::vector<float> numbers;
    const auto take = [&](const void* bytes) {
      numbers.assign(static_cast<const float*>(bytes), static_cast<const float*>(bytes) + 2);
      return absl::OkStatus();
    };
    EXPECT_TRUE(cluster_->executor(0).SaveTile(Tile(), take).ok());
    return numbers;
  }

  KernelRegistry kernels_ = TestKernels();
  Sink sink_;
  plan::Plan plan_;
  std::unique_ptr<LocalCluster> cluster_;
};

const float kTenth = Widen(Narrow<BFloat16>(0.1f)), kThird = Widen(Narrow<BFloat16>(1.0f / 3));

TEST_F(CopiesTest, FollowInitialValuesAndWhatIsLoaded) {
  Start(WithCopy(""));
  EXPECT_THAT(Step(0), ElementsAre(kTenth, kTenth));
  Fill(2, 1.0f / 3);
  EXPECT_THAT(Step(1), ElementsAre(2, kThird));
  EXPECT_THAT(Step(2), ElementsAre(2, kThird));
  EXPECT_THAT(Saved(), ElementsAre(2, 1.0f / 3));
}

// Between steps they are as the last one left them.
TEST_F(CopiesTest, AreNotMadeAgainBetweenSteps) {
  Start(WithCopy(R"(kernels { name: "update" inputs: 0 outputs: [0, 1] })"));
  EXPECT_THAT(Step(0), ElementsAre(kTenth, kTenth));
  EXPECT_THAT(Step(1), ElementsAre(5, 5));
  EXPECT_THAT(Saved(), ElementsAre(3, 3));
  Fill(2, 4);
  EXPECT_THAT(Step(2), ElementsAre(2, 4));
}

TEST_F(CopiesTest, NarrowParametersAreLoadedAndSavedAsFilesHaveThem) {
  Start(Narrowed());
  EXPECT_THAT(Step(0), ElementsAre(kTenth, kTenth));
  EXPECT_THAT(Saved(), ElementsAre(kTenth, kTenth));
  Fill(2, 1.0f / 3);
  EXPECT_THAT(Step(1), ElementsAre(2, kThird));
  EXPECT_THAT(Saved(), ElementsAre(2, kThird));
}

}  // namespace
}  // namespace weft::executor
