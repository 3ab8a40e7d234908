// A model trained on ranks that have an emulated GPU each, with emulated NCCL
// between them: the losses of the CPU.
#include <memory>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/cuda_kernels.h"
#include "runtime/executor/cluster.h"
#include "tests/emulation/nccl/ranks.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

using Overrides = std::vector<std::string>;

constexpr int kSteps = 3;

class NcclCluster : public executor::Cluster {
 public:
  static absl::StatusOr<std::unique_ptr<executor::Cluster>> Create(collective::EmulatedRanks& gpus,
                                                                   const plan::Plan& plan,
                                                                   const executor::ClusterOptions& options) {
    std::unique_ptr<NcclCluster> cluster(new NcclCluster());
    LoadArguments arguments{.ranks = executor::RanksOf(plan)};
    for (size_t r = 0; r < arguments.ranks.size(); ++r) {
      arguments.communicators.push_back(gpus.communicators[r].get());
      arguments.devices.push_back(gpus.devices[r].get());
    }
    cluster->fault().AddListener([&gpus](const absl::Status& error) { gpus.Abort(error); });
    if (absl::Status status = cluster->Load(plan, options, arguments); !status.ok()) return status;
    std::vector<std::thread> threads;
    for (auto& communicator : gpus.communicators) {
      threads.emplace_back([&communicator] { EXPECT_TRUE(communicator->Connect().ok()); });
    }
    for (std::thread& thread : threads) thread.join();
    return cluster;
  }
};

TrainOptions Options(const Overrides& layout) {
  TrainOptions options;
  options.job = "models/mlp/mlp.job";
  options.overrides = {"batch={global: 8 micro: 4}", "model.set=seq=8", "model.set=hidden=16", "model.set=inner=24",
                       "optimizer.clip_norm=1.0"};
  options.overrides.insert(options.overrides.end(), layout.begin(), layout.end());
  options.data = "models/mlp/mlp.mlir";
  options.steps = kSteps;
  return options;
}

struct Case {
  int ranks;
  Overrides layout;
};
class NcclMlpTest : public testing::TestWithParam<Case> {};

TEST_P(NcclMlpTest, LossesAreThoseOfTheCpu) {
  const auto cpu = Train(Options({}));
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  collective::EmulatedRanks gpus(GetParam().ranks);
  KernelRegistry kernels;
  RegisterCudaKernels(kernels);
  TrainOptions options = Options(GetParam().layout);
  options.cluster = "tests/cuda/one_gpu.cluster";
  options.kernels = &kernels;
  options.make_cluster = [&](const plan::Plan& plan, const executor::ClusterOptions& of) {
    return NcclCluster::Create(gpus, plan, of);
  };
  const auto reports = Train(options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR((*reports)[step].loss, (*cpu)[step].loss, 2e-5 * (*cpu)[step].loss) << step;
    EXPECT_NEAR((*reports)[step].grad_norm, (*cpu)[step].grad_norm, 1e-4 * (*cpu)[step].grad_norm) << step;
  }
  EXPECT_GT(gpus.nccl.groups(), 0);
  EXPECT_GT(gpus.driver.replays(), 0);
  EXPECT_THAT(gpus.nccl.complaints(), testing::IsEmpty());
  EXPECT_THAT(gpus.driver.complaints(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Layouts, NcclMlpTest,
                         testing::Values(Case{2, {"dist.data=2"}}, Case{2, {"dist.pipeline=2"}},
                                         Case{4, {"dist.data=2", "dist.pipeline=2"}},
                                         Case{2, {"dist.data=2", "zero.stage=3"}}));

}  // namespace
}  // namespace weft::tests
