// Plans of whole models, loaded as weft-run loads them on a driver that knows every call but computes nothing: every
// kernel is created and launched in its true shape, every product and attention is described to the libraries, and
// segments are recorded as graphs.
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/local_cluster.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kCluster[] = "clusters/8xh200.cluster";
constexpr int kSteps = 2;  // the second records graphs and replays them

struct Case {
  const char* name;
  const char* job;
  std::vector<std::string> overrides;
  const char* attention = ": by cuDNN, ";  // what is said of it, where there are libraries
};

class Zeros : public executor::BatchSource {
 public:
  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    class Field : public executor::BatchField {
     public:
      explicit Field(size_t bytes) : bytes_(bytes) {}
      absl::Status Fill(int64_t, int64_t, void* tile) override {
        return std::memset(tile, 0, bytes_), absl::OkStatus();
      }

     private:
      const size_t bytes_;
    };
    return std::make_unique<Field>(port.spec.bytes());
  }
};

class ModelsTest : public testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(ModelsTest, EveryKernelIsMadeAndLaunched) {
  const auto& [it, libraries] = GetParam();
  const auto plan = CompileJob(it.job, it.overrides, kCluster);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EmulatedGpu gpu({.memory_bytes = int64_t{2} << 40, .most_delay_us = 0, .computes = false}, libraries);
  Zeros zeros;
  const auto cluster =
      executor::LocalCluster::Create(*plan, {.kernels = &gpu.kernels, .source = &zeros, .device = gpu.device.get()});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_TRUE((*cluster)->Initialize().ok());
  for (int step = 0; step < kSteps; ++step) {
    const absl::Status status = (*cluster)->Step(step);
    ASSERT_TRUE(status.ok()) << status;
  }
  for (int r = 0; r < (*cluster)->size(); ++r) {
    const executor::Graphs& graphs = (*cluster)->executor(r).graphs();
    EXPECT_TRUE(graphs.status().ok()) << graphs.status();
    EXPECT_GT(graphs.counts().segments, 0);
  }
  EXPECT_GT(gpu.driver.replays(), 0);
  EXPECT_THAT(gpu.driver.complaints(), IsEmpty());
  EXPECT_THAT(gpu.cudnn.refusals(), IsEmpty());
  EXPECT_GT((*cluster)->executor(0).workspace_bytes(), 0);
  int64_t communication = 0;  // streams, of all ranks
  for (const plan::Stage& stage : plan->stages()) {
    for (const plan::Stream& stream : stage.streams()) {
      if (stream.kind() == plan::Stream::COMMUNICATION) {
        communication += plan->placements(stage.placement()).ranks_size();
      }
    }
  }
  EXPECT_EQ(gpu.driver.urgent_streams(), communication);
  if (libraries) {
    EXPECT_THAT(gpu.notes, SizeIs(2));  // attention and its gradient, in one shape
    EXPECT_THAT(gpu.notes, Each(HasSubstr(it.attention)));
  }
}

const char kBF16[] = "precision.compute=BF16";
const char kGpt2[] = "batch={global: 16 micro: 8}";

const Case kCases[] = {
    {"gpt2_124m_f32", "models/gpt2/124m.job", {kGpt2, "graph.fusion=false"}, "expected bf16 or f16, got f32"},
    {"gpt2_124m", "models/gpt2/124m.job", {kGpt2, kBF16}},
    // The sums of dq alone are 302 MB.
    {"gpt2_124m_large", "models/gpt2/124m.job", {"batch={global: 96 micro: 96}", kBF16}},
    {"gpt2_345m", "models/gpt2/345m.job", {kGpt2, kBF16}},
    {"gpt2_1_5b", "models/gpt2/1.5b.job", {kGpt2, kBF16}},
    {"gpt2_1_5b_three_axes",
     "models/gpt2/1.5b.job",
     {kGpt2, kBF16, "dist.data=2", "dist.tensor=2", "dist.pipeline=2", "zero.stage=1"}},
    {"llama_8b", "models/llama/8b.job", {"batch={global: 8 micro: 4}", "dist.tensor=8"}},
};

INSTANTIATE_TEST_SUITE_P(Plans, ModelsTest, testing::Combine(testing::ValuesIn(kCases), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_libraries" : "_own");
                         });

}  // namespace
}  // namespace weft::tests
