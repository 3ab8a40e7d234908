#include "tools/run/replicas.h"

#include "gtest/gtest.h"
#include "runtime/checkpoint/host_and_time.h"
#include "runtime/executor/local_cluster.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"

namespace weft::run {
namespace {

class ReplicasTest : public testing::Test {
 protected:
  void Start(const plan::Plan& plan) {
    plan_ = plan;
    auto processes = Processes::Create({});
    ASSERT_TRUE(processes.ok()) << processes.status();
    processes_ = *std::move(processes);
    auto cluster = executor::LocalCluster::Create(plan_, {.kernels = &kernels_, .source = &source_, .seed = 1});
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    cluster_ = *std::move(cluster);
    ASSERT_TRUE(cluster_->Initialize().ok());
    ASSERT_TRUE(cluster_->Step(0).ok());
  }

  Replicas Compare() {
    auto replicas = CompareReplicas(*cluster_, *processes_);
    EXPECT_TRUE(replicas.ok()) << replicas.status();
    return replicas.ok() ? *replicas : Replicas();
  }

  // As a faulty memory would.
  void FlipABit(int rank) {
    executor::Executor& executor = cluster_->executor(rank);
    const executor::StateTile& tile = executor.state()[0];
    executor.arena()->base()[tile.offset + static_cast<int64_t>(tile.spec.bytes()) - 1] ^= 1;
  }

  plan::Plan plan_;
  const KernelRegistry kernels_ = executor::TestKernels();
  executor::SampleSource source_;
  std::unique_ptr<Processes> processes_;
  std::unique_ptr<executor::Cluster> cluster_;
};

TEST_F(ReplicasTest, OfOneRankThereAreNone) {
  Start(executor::OneRank());
  EXPECT_EQ(Compare().tiles, 0);
  FlipABit(0);
  EXPECT_EQ(Compare().difference, "");
}

TEST_F(ReplicasTest, ABitIsSeen) {
  Start(executor::TwoRanks());
  EXPECT_EQ(Compare().tiles, 2);
  EXPECT_EQ(Compare().difference, "");
  FlipABit(0);  // of two nobody knows which one it was
  EXPECT_EQ(Compare().difference, "`w`: rank 1 (host " + checkpoint::HostName() + ") has other bits than rank 0");
  FlipABit(1);
  EXPECT_EQ(Compare().difference, "");
}

}  // namespace
}  // namespace weft::run
