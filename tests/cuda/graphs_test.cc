// Training on an emulated GPU with steps replayed as CUDA graphs: bit for bit what
// it is without.
#include <cstring>
#include <map>
#include <mutex>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 4;

struct Case {
  const char* name;
  const char* job;
  Overrides overrides;
};

TrainOptions OptionsOf(const Case& it) {
  TrainOptions options;
  options.job = it.job;
  options.overrides = {"batch={global: 8 micro: 2}", "model.set=seq=8", "model.set=hidden=16",
                       "optimizer.clip_norm=1.0",
                       "optimizer.schedule={warmup_cosine: {warmup: 2 total: 6 min_ratio: 0.1}}"};
  const bool gpt2 = std::string(it.job) == "models/gpt2/tiny.job";
  const Overrides sizes = gpt2 ? Overrides{"model.set=positions=8", "model.set=heads=2", "model.set=layers=2",
                                           "model.set=dropout=0.1"}
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
  std::vector<int64_t> submissions;  // of each step
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
    {"mlp_one_micro_batch", kMlp, {"batch={global: 8 micro: 8}"}},
    {"mlp_data", kMlp, {"dist.data=2"}},
    {"mlp_pipeline", kMlp, {"dist.pipeline=2"}},
    {"mlp_zero", kMlp, {"dist.data=2", "zero.stage=2"}},
    {"gpt2", kGpt2, {}},
    {"gpt2_data", kGpt2, {"dist.data=2"}},
    {"gpt2_pipeline", kGpt2, {"dist.pipeline=2", "pipeline.schedule=ONE_F_ONE_B"}},
    {"gpt2_three_axes", kGpt2, {"dist.data=2", "dist.tensor=2", "dist.pipeline=2"}},
    {"gpt2_recompute", kGpt2, {"recompute.policy=FULL"}},
};
INSTANTIATE_TEST_SUITE_P(Layouts, GraphsTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::tests
