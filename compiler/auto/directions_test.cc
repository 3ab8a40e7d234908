// One rate of the cluster four times as fast, or a quarter: the choice moves the way docs/howto/let_weft_choose.md
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compiler/auto/decide.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "runtime/plan/cluster.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {
namespace {

constexpr char kJob[] = "models/gpt2/small.job", kCluster[] = "clusters/8xh200.cluster";

// Four layers of GPT-2 on two nodes of four H200.
struct Question {
  std::vector<std::string> keys, ofCluster;

  Cluster cluster() const {
    std::vector<std::string> all = {"cluster.node.count=2", "cluster.node.ranks=4"};
    all.insert(all.end(), ofCluster.begin(), ofCluster.end());
    return *LoadCluster(kCluster, all);
  }

  Decided answer() const {
    std::vector<std::string> all = {"graph.auto_parallel=true", "cluster=../../clusters/8xh200.cluster",
                                    "precision.compute=BF16",   "batch={global: 16}",
                                    "model.set=layers=4",       "model.set=hidden=2048",
                                    "model.set=heads=16",       "model.set=seq=512",
                                    "model.set=positions=512"};
    all.insert(all.end(), keys.begin(), keys.end());
    CompileOptions options;
    options.job = *LoadJob(kJob, all);
    options.jobFile = kJob;
    options.cluster = cluster();
    absl::StatusOr<Decided> decided = decide(options, {});
    EXPECT_TRUE(decided.ok()) << decided.status();
    return decided.ok() ? *std::move(decided) : Decided();
  }
};

int64_t ranksOf(const Job &job) {
  const Dist &dist = job.dist();
  return dist.data() * dist.expert() * dist.context() * dist.tensor() * dist.pipeline();
}

std::string layoutOf(const Decided &decided) { return decided.plan.header().decision().best(0).keys(); }

// Seconds that a plan would save on a cluster where one rate is twice as fast: what `weft plan explain` sorts by.
double savedBy(const plan::Plan &plan, const Cluster &cluster, const std::function<void(Cluster &)> &faster) {
  Cluster other = cluster;
  faster(other);
  return sim::Simulate(plan, plan::MachineOf(cluster))->step_s - sim::Simulate(plan, plan::MachineOf(other))->step_s;
}

constexpr int kNetwork = 0, kLink = 1, kProducts = 3; // places in `savings`

std::vector<double> savings(const plan::Plan &plan, const Cluster &cluster) {
  return {
      savedBy(plan, cluster, [](Cluster &c) { c.mutable_network()->set_link_bytes_s(2 * c.network().link_bytes_s()); }),
      savedBy(plan, cluster, [](Cluster &c) { c.mutable_node()->set_link_bytes_s(2 * c.node().link_bytes_s()); }),
      savedBy(plan, cluster,
              [](Cluster &c) { c.mutable_device()->set_memory_bytes_s(2 * c.device().memory_bytes_s()); }),
      savedBy(plan, cluster,
              [](Cluster &c) { c.mutable_device()->set_contraction_flops(2 * c.device().contraction_flops()); }),
  };
}

// With the layout that was best before, the rate that is a quarter now is what a step would gain most by.
void expectNames(int rate, const Question &before, const Question &after) {
  const std::vector<double> saved = savings(before.answer().plan, after.cluster());
  EXPECT_EQ(std::max_element(saved.begin(), saved.end()) - saved.begin(), rate);
}

// Gradients cross a fast network. They do not cross a slow one: every node is a stage and only activations do, or one
// node is faster than two.
TEST(DirectionsTest, ASlowNetworkKeepsGradientsOnANode) {
  const Question fast{{}, {"cluster.network.link_bytes_s=200e9"}}, slow{{}, {"cluster.network.link_bytes_s=12.5e9"}};
  const Decided onFast = fast.answer(), onSlow = slow.answer();
  EXPECT_EQ(onFast.job.dist().pipeline(), 1) << layoutOf(onFast);
  EXPECT_EQ(ranksOf(onFast.job), 8) << layoutOf(onFast);
  EXPECT_EQ(ranksOf(onSlow.job) / onSlow.job.dist().pipeline(), 4) << layoutOf(onSlow);
  expectNames(kNetwork, fast, slow);
}

// Communication beside slow products is cheap: all ranks share the batch. Beside fast ones no gradients leave a node:
// it is a stage, or one works alone.
TEST(DirectionsTest, FastProductsStayOnANode) {
  const Question slow{{}, {"cluster.device.contraction_flops=247e12"}},
      fast{{}, {"cluster.device.contraction_flops=3956e12"}};
  const Decided onSlow = slow.answer(), onFast = fast.answer();
  EXPECT_EQ(ranksOf(onSlow.job), 8) << layoutOf(onSlow);
  EXPECT_EQ(onSlow.job.dist().pipeline(), 1) << layoutOf(onSlow);
  EXPECT_EQ(ranksOf(onFast.job) / onFast.job.dist().pipeline(), 4) << layoutOf(onFast);
  expectNames(kProducts, fast, slow);
}

// On a slow link weights are split, so that a rank reduces fewer gradients; on a fast one only the batch is.
TEST(DirectionsTest, ASlowLinkSplitsWeights) {
  const Question slow{{}, {"cluster.node.count=1", "cluster.node.ranks=8", "cluster.node.link_bytes_s=112.5e9"}},
      fast{{}, {"cluster.node.count=1", "cluster.node.ranks=8", "cluster.node.link_bytes_s=1800e9"}};
  const Decided onSlow = slow.answer(), onFast = fast.answer();
  EXPECT_GT(onSlow.job.dist().tensor(), 1) << layoutOf(onSlow);
  EXPECT_EQ(onFast.job.dist().data(), 8) << layoutOf(onFast);
  expectNames(kLink, fast, slow);
}

// Where the bytes of a device bind, ZeRO splits more, and the step is slower. The narrow parameters of these four
// layers are 0.6 GB, which stages 1 and 2 leave whole.
TEST(DirectionsTest, LittleMemorySplitsMoreState) {
  const std::vector<std::string> keys = {"dist.context=1", "dist.pipeline=1"};
  const Question much{keys, {"cluster.node.count=1", "cluster.node.ranks=8", "cluster.device.memory_bytes=4000000000"}},
      little{keys, {"cluster.node.count=1", "cluster.node.ranks=8", "cluster.device.memory_bytes=700000000"}};
  const Decided withMuch = much.answer(), withLittle = little.answer();
  EXPECT_GT(withLittle.job.zero().stage(), withMuch.job.zero().stage()) << layoutOf(withLittle);
  EXPECT_GT(withLittle.plan.prediction().step_s(), withMuch.plan.prediction().step_s());
}

} // namespace
} // namespace weft::compiler
