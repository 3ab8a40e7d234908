// Training on an emulated GPU with steps replayed as CUDA graphs: bit for bit what
// it is without.
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/trace/timeline.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 3;  // the first without graphs, the second records them

struct Case {
  const char* name;
  const char* job;
  Overrides overrides;
};

TrainOptions OptionsOf(const Case& it) {
  TrainOptions options;
  options.job = it.job;
  options.overrides = {"batch={global: 4 micro: 2}", "model.set=seq=8", "model.set=hidden=16",
                       "optimizer.clip_norm=1.0",
                       "optimizer.schedule={warmup_cosine: {warmup: 2 total: 6 min_ratio: 0.1}}"};
  const bool gpt2 = std::string(it.job) == "models/gpt2/tiny.job";
  const Overrides sizes =
      gpt2 ? Overrides{"model.set=positions=8", "model.set=heads=2", "model.set=layers=2", "model.set=dropout=0.1"}
           : Overrides{"model.set=inner=24"};
  options.overrides.insert(options.overrides.end(), sizes.begin(), sizes.end());
  options.overrides.insert(options.overrides.end(), it.overrides.begin(), it.overrides.end());
  options.data = "models/gpt2/gpt2.mlir";
  options.steps = kSteps;
  options.cluster = "tests/cuda/one_gpu.cluster";
  return options;
}

// A run, and what it asked of the driver.
struct Outcome {
  std::vector<StepReport> reports;
  std::vector<int64_t> submissions;           // of each step
  std::vector<executor::GraphCounts> counts;  // of each rank
  int64_t replays = 0;
};

Outcome Observe(EmulatedGpu& gpu, TrainOptions options) {
  Outcome outcome;
  options.device = gpu.device.get();
  options.kernels = &gpu.kernels;
  int64_t before = 0;
  const auto restore = options.restore;
  options.restore = [&, restore](executor::Executor& it) {
    const absl::Status status = restore ? restore(it) : absl::OkStatus();
    before = gpu.driver.submissions();  // the last rank's counts
    return status;
  };
  options.after_step = [&] {
    outcome.submissions.push_back(gpu.driver.submissions() - before);
    before = gpu.driver.submissions();
  };
  std::mutex mutex;
  const auto inspect = options.inspect;
  options.inspect = [&, inspect](executor::Executor& it) {
    EXPECT_TRUE(it.graphs().status().ok()) << it.graphs().status();
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (outcome.submissions.empty()) outcome.counts.push_back(it.graphs().counts());
    }
    return inspect ? inspect(it) : absl::OkStatus();
  };
  const auto reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  if (reports.ok()) outcome.reports = *reports;
  outcome.replays = gpu.driver.replays();
  EXPECT_THAT(gpu.driver.complaints(), testing::IsEmpty());
  return outcome;
}

Outcome Observe(const Case& it, bool graphs, uint64_t seed = 1) {
  EmulatedGpu gpu({.seed = seed});
  TrainOptions options = OptionsOf(it);
  options.graphs = graphs;
  return Observe(gpu, options);
}

void ExpectSameBits(const std::vector<StepReport>& a, const std::vector<StepReport>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(std::memcmp(&a[i], &b[i], sizeof(StepReport)), 0)
        << i << ": " << a[i].loss << " " << a[i].grad_norm << " against " << b[i].loss << " " << b[i].grad_norm;
  }
}

class GraphsTest : public testing::TestWithParam<Case> {};

TEST_P(GraphsTest, NumbersAreThoseWithout) {
  const Outcome with = Observe(GetParam(), true), without = Observe(GetParam(), false, 2);
  ExpectSameBits(with.reports, without.reports);
  EXPECT_EQ(without.replays, 0);
  int64_t segments = 0;
  for (const executor::GraphCounts& it : with.counts) {
    segments += it.segments;
    EXPECT_GE(it.acts, it.segments);
    EXPECT_LE(it.acts, it.acts_a_step);
  }
  EXPECT_GT(segments, 0);
  EXPECT_EQ(with.replays, (kSteps - 1) * segments);
  EXPECT_EQ(with.submissions[0], without.submissions[0]);
  for (int step = 1; step < kSteps; ++step) EXPECT_LT(with.submissions[step], without.submissions[step]) << step;
}

constexpr const char* kGpt2 = "models/gpt2/tiny.job";
constexpr const char* kMlp = "models/mlp/mlp.job";
const Case kCases[] = {
    {"mlp", kMlp, {}},
    {"mlp_one_micro_batch", kMlp, {"batch.micro=4"}},
    {"mlp_data", kMlp, {"dist.data=2"}},
    {"mlp_pipeline", kMlp, {"dist.pipeline=2"}},
    {"mlp_zero", kMlp, {"dist.data=2", "zero.stage=2"}},
    {"gpt2", kGpt2, {}},
    {"gpt2_data", kGpt2, {"dist.data=2"}},
    {"gpt2_pipeline", kGpt2, {"dist.pipeline=2", "pipeline.schedule=ONE_F_ONE_B"}},
    {"gpt2_three_axes", kGpt2, {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}},
};
INSTANTIATE_TEST_SUITE_P(Layouts, GraphsTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// What weft-run --deterministic promises: same seed and plan, same numbers, however late and in whatever
// order the GPU works.
class DeterministicTest : public testing::TestWithParam<const char*> {};

TEST_P(DeterministicTest, TheSameBitForBit) {
  const Case gpt2{"gpt2", kGpt2, {"dist.data=2", GetParam()}};
  const bool halves = std::string(GetParam()) != "precision={}";
  std::vector<StepReport> first;
  for (uint64_t seed : {1, 2, 3}) {
    EmulatedGpu gpu({.seed = seed}, /*libraries=*/true, /*deterministic=*/true);
    TrainOptions options = OptionsOf(gpt2);
    options.graphs = seed != 2;
    const Outcome outcome = Observe(gpu, options);
    EXPECT_GT(gpu.cublaslt.products(), 0);
    for (int algorithm : gpu.cublaslt.used()) EXPECT_EQ(algorithm, 0);
    EXPECT_EQ(gpu.cudnn.runs() > 0, halves);  // attention
    if (!first.empty()) ExpectSameBits(outcome.reports, first);
    first = outcome.reports;
  }
  // Another seed, other numbers: of initial values and dropout.
  TrainOptions other = OptionsOf(gpt2);
  other.overrides.push_back("seed=5");
  EmulatedGpu gpu({}, true, true);
  EXPECT_NE(Observe(gpu, other).reports[0].loss, first[0].loss);
}

INSTANTIATE_TEST_SUITE_P(Precisions, DeterministicTest, testing::Values("precision={}", "precision={compute: BF16}"),
                         [](const auto& info) { return info.index == 0 ? "f32" : "bf16"; });

// A step that is replayed is skipped: the scale has grown too large.
TEST(GraphsScaleTest, AReplayedStepIsSkipped) {
  const Case mlp{"mlp",
                 kMlp,
                 {"precision={compute: F16 loss_scale { initial: 128 growth_interval: 2 growth_factor: 8388608 "
                  "max: 1073741824 backoff_factor: 0.00000011920928955078125 }}"}};
  const Outcome with = Observe(mlp, true), without = Observe(mlp, false);
  ExpectSameBits(with.reports, without.reports);
  EXPECT_GT(with.replays, 0);
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_EQ(std::isfinite(with.reports[step].grad_norm), step != 2) << step;
  }
}

// State of a rank by name and place in the tensor.
using Saved = std::map<std::string, std::vector<char>>;

absl::Status Save(executor::Executor& executor, Saved& saved) {
  for (const executor::StateTile& tile : executor.state()) {
    const absl::Status status = executor.SaveTile(tile, [&](const void* bytes) {
      const auto* at = static_cast<const char*>(bytes);
      saved[tile.name].assign(at, at + tile.spec.bytes());
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Load(executor::Executor& executor, const Saved& saved) {
  for (const executor::StateTile& tile : executor.state()) {
    const absl::Status status = executor.LoadTile(tile, [&](void* bytes) {
      std::memcpy(bytes, saved.at(tile.name).data(), tile.spec.bytes());
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// What resumes counts its steps on, and records graphs of its own. State goes in and out between replays.
TEST(GraphsResumeTest, GoesOnWithTheSameNumbers) {
  const Case gpt2{"gpt2", kGpt2, {}};
  Saved saved;
  EmulatedGpu whole_gpu, first_gpu, second_gpu;
  TrainOptions all = OptionsOf(gpt2);
  all.steps = 4;
  const Outcome whole = Observe(whole_gpu, all);
  TrainOptions first = OptionsOf(gpt2);
  first.steps = 2;
  first.inspect = [&](executor::Executor& it) { return Save(it, saved); };
  const Outcome begun = Observe(first_gpu, first);
  TrainOptions second = OptionsOf(gpt2);
  second.first_step = 2;
  second.steps = 2;
  second.restore = [&](executor::Executor& it) { return Load(it, saved); };
  const Outcome resumed = Observe(second_gpu, second);
  std::vector<StepReport> both = begun.reports;
  both.insert(both.end(), resumed.reports.begin(), resumed.reports.end());
  ExpectSameBits(both, whole.reports);
  EXPECT_GT(begun.replays, 0);
  EXPECT_GT(resumed.replays, 0);
}

// They are in host memory when a step ends: the GPU is neither asked nor stopped.
TEST(GraphsMetricsTest, AMetricAsksNothingOfTheDriver) {
  EmulatedGpu gpu;
  TrainOptions options = OptionsOf({"gpt2", kGpt2, {"dist.pipeline=2"}});
  std::mutex mutex;
  std::vector<float> losses;
  options.inspect = [&](executor::Executor& it) {
    std::lock_guard<std::mutex> lock(mutex);  // no other rank asks meanwhile
    const int64_t before = gpu.driver.submissions();
    const auto loss = it.Metric("loss");
    if (loss.ok()) losses.push_back(*loss);
    EXPECT_EQ(gpu.driver.submissions(), before);
    return absl::OkStatus();
  };
  const Outcome outcome = Observe(gpu, options);
  ASSERT_EQ(losses.size(), static_cast<size_t>(kSteps));
  for (int step = 0; step < kSteps; ++step) EXPECT_EQ(losses[step], outcome.reports[step].loss);
}

// Without memory for graphs, a run goes on without them.
TEST(GraphsMemoryTest, AGraphThatDoesNotFitIsLeftOut) {
  const Case mlp{"mlp", kMlp, {}};
  EmulatedGpu gpu({.memory_bytes = 1 << 24, .graph_bytes = 1 << 24});
  TrainOptions options = OptionsOf(mlp);
  options.device = gpu.device.get();
  options.kernels = &gpu.kernels;
  int steps = 0;
  options.inspect = [&](executor::Executor& it) {
    EXPECT_EQ(it.graphs().status().code(), ++steps < 2 ? absl::StatusCode::kOk : absl::StatusCode::kResourceExhausted);
    return absl::OkStatus();
  };
  const auto reports = Train(options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  ExpectSameBits(*reports, Observe(mlp, true).reports);
  EXPECT_EQ(gpu.driver.replays(), 0);
}

// A driver may wait for all streams when it makes a graph, and one of them for another rank.
TEST(GraphsOrderTest, NoStreamGoesOnBeforeAllGraphsAreMade) {
  cuda::EmulatedDriver* driver = nullptr;
  int64_t before = 0;  // the second step
  int graphs = 0;
  const auto look = [&] {
    ++graphs;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(driver->submissions(), before);
  };
  EmulatedGpu gpu({.on_graph = look});
  driver = &gpu.driver;
  TrainOptions options = OptionsOf({"mlp", kMlp, {}});
  options.inspect = [&](executor::Executor&) {
    before = driver->submissions();
    return absl::OkStatus();
  };
  Observe(gpu, options);
  EXPECT_GT(graphs, 0);
}

struct Traced {
  std::map<std::string, int> events;  // by name
  int64_t replays = 0;
};

Traced Trace(bool kernels) {
  EmulatedGpu gpu;
  trace::Timeline timeline(1 << 12);
  TrainOptions options = OptionsOf({"mlp", kMlp, {}});
  options.device = gpu.device.get();
  options.kernels = &gpu.kernels;
  options.make_cluster = [&](const plan::Plan& plan,
                             executor::ClusterOptions cluster) -> absl::StatusOr<std::unique_ptr<executor::Cluster>> {
    cluster.timeline = &timeline;
    cluster.trace_kernels = kernels;
    return executor::LocalCluster::Create(plan, cluster);
  };
  const auto reports = Train(options);
  EXPECT_TRUE(reports.ok()) << reports.status();
  Traced traced{.replays = gpu.driver.replays()};
  const nlohmann::json trace = nlohmann::json::parse(timeline.ToJson());
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") ++traced.events[event["name"]];
  }
  return traced;
}

// A timeline has every act of every step, replayed or not; kernels only where they are enqueued one by one.
TEST(GraphsTraceTest, HasEveryAct) {
  const Traced acts = Trace(false), kernels = Trace(true);
  EXPECT_GT(acts.replays, 0);
  EXPECT_EQ(kernels.replays, 0);
  EXPECT_FALSE(acts.events.empty());
  for (const auto& [name, count] : acts.events) {
    EXPECT_EQ(count, kernels.events.at(name)) << name;
    EXPECT_EQ(count % kSteps, 0) << name;
  }
  EXPECT_GT(kernels.events.size(), acts.events.size());
}

}  // namespace
}  // namespace weft::tests
