#include "runtime/executor/executor.h"

#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/binding.h"
#include "runtime/executor/links.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"

namespace weft::executor {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::StartsWith;

class ExecutorTest : public ::testing::Test {
 protected:
  std::unique_ptr<LocalCluster> Load(const plan::Plan& plan, trace::Timeline* timeline = nullptr) {
    auto cluster =
        LocalCluster::Create(plan, {.kernels = &kernels_, .source = &source_, .seed = 1, .timeline = timeline});
    EXPECT_TRUE(cluster.ok()) << cluster.status();
    if (!cluster.ok()) return nullptr;
    EXPECT_TRUE((*cluster)->Initialize().ok());
    return *std::move(cluster);
  }

  // Steps and compares losses and the final parameter with the reference.
  void ExpectReference(const plan::Plan& plan, Reference reference, int64_t first_step = 0) {
    const std::unique_ptr<LocalCluster> cluster = Load(plan);
    ASSERT_NE(cluster, nullptr);
    for (int64_t step = first_step; step < first_step + 5; ++step) {
      ASSERT_TRUE(cluster->Step(step).ok());
      EXPECT_EQ(*cluster->Metric("loss"), reference.Step(step)) << "step " << step;
    }
    ASSERT_TRUE(cluster->OnEveryRank([&](Executor& executor) { return CompareState(executor, reference); }).ok());
  }

  static absl::Status CompareState(Executor& executor, const Reference& reference) {
    for (const StateTile& tile : executor.state()) {
      EXPECT_EQ(tile.name, "w");
      absl::Status status = executor.SaveTile(tile, [&](const void* bytes) {
        EXPECT_EQ(std::memcmp(bytes, reference.w().data() + tile.spec.origin[0], tile.spec.bytes()), 0);
        return absl::OkStatus();
      });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  KernelRegistry kernels_ = TestKernels();
  SampleSource source_;
};

// Two ranks tell the messages of their groups apart by the channel.
TEST(LinksTest, AChannelIsOneStreamAndOneSetOfAxes) {
  plan::Stage stage;
  const auto add = [&](int stream, const std::vector<int>& axes) {
    plan::Actor& actor = *stage.add_actors();
    actor.set_stream(stream);
    if (!axes.empty()) *actor.add_collectives()->mutable_axes() = {axes.begin(), axes.end()};
  };
  add(1, {0});
  add(0, {});
  add(1, {0, 1});
  add(2, {0});
  add(1, {0});
  add(2, {1});
  EXPECT_THAT(ChannelsOf(stage), ElementsAre(0, 0, 1, 2, 0, 3));
}

TEST_F(ExecutorTest, OneRank) { ExpectReference(OneRank(), Reference(4, 3)); }
TEST_F(ExecutorTest, TwoRanksTwoMicroBatches) { ExpectReference(TwoRanks(), Reference(4, 3)); }
TEST_F(ExecutorTest, TwoSumsInOneOperation) { ExpectReference(TwoRanksBundled(), Reference(4, 3)); }
TEST_F(ExecutorTest, TwoStages) { ExpectReference(TwoStages(), Reference(8, 4, 2)); }
TEST_F(ExecutorTest, StepsMayStartAnywhere) { ExpectReference(TwoRanks(), Reference(4, 3), 1000); }

TEST_F(ExecutorTest, StateTilesSayWhereTheyLie) {
  const plan::Plan plan = TwoStages();
  const std::unique_ptr<LocalCluster> cluster = Load(plan);
  EXPECT_TRUE(cluster->executor(0).state().empty());
  const std::vector<StateTile>& state = cluster->executor(3).state();
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(state[0].spec.ToString(), "f32[2] of [4] at (2)");
  EXPECT_THAT(state[0].stored_shape, ElementsAre(4));
  EXPECT_TRUE(state[0].primary);
  EXPECT_EQ(state[0].saved_by, 3);
  EXPECT_FALSE(state[0].optimizer);
}

TEST_F(ExecutorTest, OfCopiesOneIsPrimary) {
  const plan::Plan plan = TwoRanks();
  const std::unique_ptr<LocalCluster> cluster = Load(plan);
  EXPECT_TRUE(cluster->executor(0).state()[0].primary);
  EXPECT_FALSE(cluster->executor(1).state()[0].primary);
  EXPECT_EQ(cluster->executor(0).state()[0].saved_by, 0);
  EXPECT_EQ(cluster->executor(1).state()[0].saved_by, 0);
}

TEST_F(ExecutorTest, TheFirstErrorStopsEveryRank) {
  plan::Plan plan = TwoRanks();
  plan::Kernel* kernel = plan.mutable_stages(0)->mutable_actors(1)->add_kernels();
  kernel->set_name("fail");
  kernel->set_location("linear.mlir:7:3");
  (*kernel->mutable_attributes())["coordinate"].set_int_(1);
  (*kernel->mutable_attributes())["step"].set_int_(2);
  const std::unique_ptr<LocalCluster> cluster = Load(plan);
  ASSERT_TRUE(cluster->Step(0).ok());
  ASSERT_TRUE(cluster->Step(1).ok());
  const absl::Status status = cluster->Step(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      status.message(),
      "rank 1: actor `backward` (step 3, micro-batch 0): fail at linear.mlir:7:3: token: expected below 256, got 300");
  EXPECT_EQ(cluster->Step(3), status);
}

TEST_F(ExecutorTest, RefusesAKernelThatIsNotThere) {
  plan::Plan plan = OneRank();
  plan.mutable_stages(0)->mutable_actors(0)->mutable_kernels(1)->set_name("no_such");
  const auto cluster = LocalCluster::Create(plan, {.kernels = &kernels_, .source = &source_});
  EXPECT_EQ(cluster.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(cluster.status().message(),
            "rank 0: actor `step`: no_such at linear.mlir:3:1: kernel `no_such`: not known on this device");
}

TEST_F(ExecutorTest, RefusesAnInputThatTheSourceLacks) {
  plan::Plan plan = OneRank();
  (*plan.mutable_stages(0)->mutable_actors(0)->mutable_kernels(0)->mutable_attributes())["name"].set_string("tokens");
  EXPECT_THAT(std::string(LocalCluster::Create(plan, {.kernels = &kernels_, .source = &source_}).status().message()),
              HasSubstr("input: input `tokens`: expected `x`"));
  EXPECT_THAT(std::string(LocalCluster::Create(plan, {.kernels = &kernels_}).status().message()),
              HasSubstr("input: `tokens`: expected a source of inputs, got none"));
}

TEST_F(ExecutorTest, AnArenaThatDoesNotFitIsAnError) {
  plan::Plan plan = OneRank();
  plan.mutable_stages(0)->set_arena_bytes(int64_t{1} << 50);
  const auto cluster = LocalCluster::Create(plan, {.kernels = &kernels_, .source = &source_});
  EXPECT_EQ(cluster.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(cluster.status().message()), StartsWith("host memory: expected at most the "));
  EXPECT_THAT(std::string(cluster.status().message()),
              HasSubstr(", got 1125899906842624 for 1 rank: 1.00 PiB of arenas"));
}

TEST_F(ExecutorTest, TracesEveryAct) {
  const plan::Plan plan = TwoRanks();
  trace::Timeline timeline(1000);
  const std::unique_ptr<LocalCluster> cluster = Load(plan, &timeline);
  ASSERT_TRUE(cluster->Step(0).ok());
  const nlohmann::json trace = nlohmann::json::parse(timeline.ToJson());
  int acts = 0;
  for (const auto& event : trace["traceEvents"]) acts += event["ph"] == "X";
  EXPECT_EQ(acts, 2 * (2 + 2 + 1 + 1 + 1));
}

// Holds one rank's backward until the other has said what it waits for.
std::atomic<bool> held{false};
absl::Status Hold(const KernelSpec& spec, const RunContext&, Inputs, Outputs) {
  while (spec.coordinates[0] == 1 && held.load()) std::this_thread::yield();
  return absl::OkStatus();
}

TEST_F(ExecutorTest, SaysWhoHasNotIssuedACollective) {
  kernels_.Register("hold", &FunctionKernel<&Hold>::Create);
  plan::Plan plan = TwoRanks();
  plan.mutable_stages(0)->mutable_actors(1)->add_kernels()->set_name("hold");
  const std::unique_ptr<LocalCluster> cluster = Load(plan);
  ASSERT_NE(cluster, nullptr);
  held.store(true);
  std::thread step([&] { EXPECT_TRUE(cluster->Step(3).ok()); });
  auto says = [&](int rank, const std::string& line) {
    for (const std::string& found : cluster->executor(rank).actors().Describe()) {
      if (found == line) return true;
    }
    return false;
  };
  while (
      !says(
          0,
          "rank 0: actor `reduce_loss` (step 4) waits for all_reduce #1 of group data[0]; rank 1 has not issued it") ||
      !says(1,
            "rank 1: actor `reduce_loss` (step 4) waits for register `loss_sum` of `backward` on stream `compute`") ||
      !says(1, "rank 1: actor `backward` (step 4, micro-batch 0) runs")) {
    std::this_thread::yield();
  }
  held.store(false);
  step.join();
}

// A function: its one output is given to a sink, tile by tile.
class CollectingSink : public ResultSink {
 public:
  absl::StatusOr<std::unique_ptr<ResultField>> Bind(const Port& port) override {
    return std::make_unique<Field>(this, port);
  }
  std::vector<std::string> lines() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::sort(lines_.begin(), lines_.end());
    return lines_;
  }

 private:
  class Field : public ResultField {
   public:
    Field(CollectingSink* sink, const Port& port) : sink_(*sink), port_(port) {}
    absl::Status Take(int64_t, int64_t, const void* tile) override {
      const float* values = static_cast<const float*>(tile);
      std::lock_guard<std::mutex> lock(sink_.mutex_);
      sink_.lines_.push_back(absl::StrCat("rank ", port_.rank, " ", port_.name, " ",
                                          plan::SbpText(*port_.placement, *port_.buffer), " ", port_.spec.ToString(),
                                          " = ", values[0], " ", values[1]));
      return absl::OkStatus();
    }

   private:
    CollectingSink& sink_;
    const Port port_;
  };
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// No error can be returned past an act that hangs: who is to hear of it is told.
TEST_F(ExecutorTest, TellsOfAFaultWhileAnActHangs) {
  kernels_.Register("hold", &FunctionKernel<&Hold>::Create);
  plan::Plan plan = TwoRanks();
  plan.mutable_stages(0)->mutable_actors(1)->add_kernels()->set_name("hold");
  held.store(true);
  absl::Status told;
  auto cluster = LocalCluster::Create(plan, {.kernels = &kernels_,
                                             .source = &source_,
                                             .hang_time_out = std::chrono::milliseconds(20),
                                             .on_fault = [&](const absl::Status& error) {
                                               told = error;
                                               held.store(false);
                                             }});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_TRUE((*cluster)->Initialize().ok());
  EXPECT_EQ((*cluster)->Step(0), told);
  EXPECT_EQ(told.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(told.message()), HasSubstr("rank 1: actor `backward` (step 1, micro-batch 0) runs"));
}

// Drawing them may take longer than to load others.
TEST_F(ExecutorTest, ParametersThatAreLoadedGetNoInitialValues) {
  const plan::Plan plan = TwoRanks();
  auto cluster = LocalCluster::Create(plan, {.kernels = &kernels_, .source = &source_, .seed = 1});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  // What is in the first float of each rank, which was 7 before.
  const auto first_after = [&](const std::set<std::string>& loaded) {
    std::vector<float> first(2);
    const absl::Status status = (*cluster)->OnEveryRank([&](Executor& executor) {
      const StateTile& tile = executor.state()[0];
      const auto fill = [&](void* bytes) {
        *static_cast<float*>(bytes) = 7;
        return absl::OkStatus();
      };
      if (absl::Status status = executor.LoadTile(tile, fill); !status.ok()) return status;
      if (absl::Status status = executor.Initialize(loaded); !status.ok()) return status;
      return executor.SaveTile(tile, [&](const void* bytes) {
        first[executor.rank()] = *static_cast<const float*>(bytes);
        return absl::OkStatus();
      });
    });
    EXPECT_TRUE(status.ok()) << status;
    return first;
  };
  EXPECT_THAT(first_after({"w"}), Each(7));
  EXPECT_THAT(first_after({"v"}), Each(Ne(7)));
}

TEST_F(ExecutorTest, AFunctionGivesItsOutput) {
  plan::Plan plan = PlanOf(R"(
    header { micro_batches: 1 }
    placements { axes { name: "tensor" size: 2 } ranks: [0, 1] }
    stages {
      arena_bytes: 128
      buffers { name: "x" dtype: F32 shape: [1, 4] sbp { kind: SPLIT dim: 1 } kind: INPUT offset: 0 slots: 1 }
      buffers { name: "y" dtype: F32 shape: [1, 4] sbp { kind: SPLIT dim: 1 } kind: OUTPUT offset: 64 slots: 1 }
      actors { name: "function" stream: 0 section: MICRO
               kernels { name: "input" outputs: 0 attributes { key: "name" value { string: "x" } } }
               kernels { name: "scale" inputs: 0 outputs: 1 attributes { key: "factor" value { float: 10 } } }
               kernels { name: "output" inputs: 1 attributes { key: "name" value { string: "y" } } } }
      streams { kind: COMPUTE name: "compute" runs { actors: 0 repeat: 1 } }
    })");
  CollectingSink sink;
  auto cluster = LocalCluster::Create(plan, {.kernels = &kernels_, .source = &source_, .sink = &sink});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_TRUE((*cluster)->Step(0).ok());
  EXPECT_THAT(sink.lines(), ElementsAre("rank 0 y tensor=S(1) f32[1,2] of [1,4] at (0,0) = -30 -10",
                                        "rank 1 y tensor=S(1) f32[1,2] of [1,4] at (0,2) = 10 30"));
}

}  // namespace
}  // namespace weft::executor
