#include "tools/calibrate/fit.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/plan/cluster.h"
#include "runtime/sim/simulate.h"
#include "tools/calibrate/cases.h"
#include "tools/calibrate/probes.h"

namespace weft::calibrate {
namespace {

using plan::CollectiveTime;
using plan::KernelWork;

Cluster TwoRanks() {
  Cluster cluster;
  cluster.mutable_device()->set_kind("cpu");
  cluster.mutable_node()->set_count(1);
  cluster.mutable_node()->set_ranks(2);
  cluster.mutable_calibration()->set_device_kind("cpu");
  return cluster;
}

KernelWork Product(int64_t m, int64_t n, int64_t k) {
  return {2.0 * static_cast<double>(m * n * k), 0, 0, {1, m, n, k, "f32"}, "einsum"};
}

// Measured as rates say it, so that those have to come out.
plan::Machine FitOf(const Measured& measured, Cluster* cluster) {
  EXPECT_EQ(Fit(measured, cluster), absl::OkStatus());
  EXPECT_EQ(plan::CheckCluster(*cluster), absl::OkStatus());
  return plan::MachineOf(*cluster);
}

TEST(FitTest, ProductsHaveTheMeanOfTheirWays) {
  Measured measured;
  for (int64_t m : {16, 64}) {
    for (double flops_s : {50e9, 100e9}) {
      measured.products.push_back({Product(m, 16, 16), Product(m, 16, 16).contraction_flops / flops_s});
    }
  }
  Cluster cluster = TwoRanks();
  const plan::Machine machine = FitOf(measured, &cluster);
  ASSERT_EQ(cluster.calibration().product_size(), 2);
  EXPECT_NEAR(machine.tables->FlopsOf({1, 64, 16, 16, "f32"}), 2 / (1 / 50e9 + 1 / 100e9), 1e8);
  EXPECT_NEAR(machine.contraction_flops, 66.67e9, 1e8);
}

TEST(FitTest, WhatStandsBehindAProductIsOtherWork) {
  Measured measured;
  measured.products.push_back({Product(16, 16, 16), Product(16, 16, 16).contraction_flops / 50e9});
  KernelWork fused = Product(16, 16, 16);
  fused.flops = 4000;
  fused.type = "f32";
  measured.kernels.push_back({fused, fused.contraction_flops / 50e9 + 4000 / 2e9});
  Cluster cluster = TwoRanks();
  EXPECT_NEAR(FitOf(measured, &cluster).other_flops, 2e9, 1e7);
  EXPECT_EQ(cluster.calibration().kernel_size(), 0) << "products have a table of their own";
}

TEST(FitTest, FamiliesHaveARateForEachDoublingAndElementType) {
  Measured measured;
  for (const auto& [bytes, bytes_s] : {std::pair(1000.0, 1e9), {1100, 2e9}, {16000, 4e9}}) {
    measured.kernels.push_back({{0, 0, bytes, {}, "layer_norm", "f32"}, bytes / bytes_s});
  }
  measured.kernels.push_back({{0, 0, 16000, {}, "layer_norm", "bf16"}, 1});
  measured.kernels.push_back({{0, 0, 400, {}, "cast", "bf16"}, 4e-7});
  measured.kernels.push_back({{8e6, 0, 4e4, {}, "attention", "f32"}, 1e-3});
  Cluster cluster = TwoRanks();
  const plan::Machine machine = FitOf(measured, &cluster);
  EXPECT_EQ(cluster.calibration().kernel_size(), 5);
  for (size_t i : {2, 3, 4, 5}) {
    const TimedKernel& timed = measured.kernels[i];
    EXPECT_NEAR(plan::KernelSeconds(machine, timed.work) - machine.launch_s, timed.seconds, 1e-3 * timed.seconds) << i;
  }
  plan::KernelSpeed speed;
  ASSERT_TRUE(machine.tables->SpeedOf("layer_norm", "f32", 1048, &speed));
  EXPECT_NEAR(speed.bytes_s, 2100 / (1000 / 1e9 + 1100 / 2e9), 1e8);
}

TEST(FitTest, WhatIsFarHasTablesOfItsOwn) {
  Measured measured;
  const KernelWork norm = {0, 0, 4000, {}, "layer_norm", "f32"};
  measured.products.push_back({Product(16, 16, 16), 1e-6});
  measured.kernels.push_back({norm, 1e-6});
  measured.far_products.push_back({Product(16, 16, 16), 4e-6});
  measured.far_kernels.push_back({norm, 9e-6});
  measured.near_bytes = 1e6, measured.far_bytes = 1e8;
  Cluster cluster = TwoRanks();
  plan::Machine machine = FitOf(measured, &cluster);
  const auto seconds = [&](const KernelWork& work) { return plan::KernelSeconds(machine, work) - machine.launch_s; };
  EXPECT_NEAR(seconds(norm), 1e-6, 1e-9);
  machine.step_bytes = 1e7;
  EXPECT_NEAR(seconds(norm), 3e-6, 3e-9) << "half-way";
  EXPECT_NEAR(seconds(Product(16, 16, 16)), 2e-6, 2e-9);
}

TEST(FitTest, KernelsAreMeasuredByRanksThatMayShareCores) {
  Measured measured;
  measured.products.push_back({Product(16, 16, 16), 1e-6});
  measured.far_products.push_back({Product(16, 16, 16), 5e-6});
  measured.near_bytes = 1e6, measured.far_bytes = 1e8;
  measured.beside = 2;
  const auto seconds = [&](double step_bytes) {
    Cluster cluster = TwoRanks();
    plan::Machine machine = FitOf(measured, &cluster);
    machine.step_bytes = step_bytes;
    return plan::KernelSeconds(machine, Product(16, 16, 16)) - machine.launch_s;
  };
  EXPECT_NEAR(seconds(0), 1e-6, 1e-9) << "of two cores each has its own";
  EXPECT_NEAR(seconds(1e8), 5e-6, 5e-9);
  // Two ranks beside each other have 1.6 cores, which takes each 1.25 times as long.
  measured.copies = 2, measured.longer = 1.25;
  EXPECT_NEAR(seconds(0), 0.8e-6, 1e-9);
  EXPECT_NEAR(seconds(1e8), 4e-6, 4e-9);
}

TEST(FitTest, AttentionHasARateForEachLengthAndSizeOfHeads) {
  Measured measured;
  const auto work = [](int64_t queries, int64_t size, const char* within) {
    return KernelWork{1e6, 0, 100, {4, queries, queries, size, "f32", within}, "attention", "f32"};
  };
  for (int64_t queries : {16, 64}) {
    for (int64_t size : {16, 64}) {
      const double seconds = 1e-6 * static_cast<double>(queries * size);
      measured.attention.push_back({work(queries, size, "attention"), seconds});
      measured.attention.push_back({work(queries, size, "causal_attention"), 2 * seconds});
    }
  }
  measured.kernels.push_back({work(64, 64, "attention"), 1});
  KernelWork unfused = work(64, 64, "attention_unfused");
  unfused.family = "attention_unfused";
  measured.kernels.push_back({unfused, 2e-3});
  Cluster cluster = TwoRanks();
  const plan::Machine machine = FitOf(measured, &cluster);
  const auto seconds = [&](const KernelWork& it) { return plan::KernelSeconds(machine, it) - machine.launch_s; };
  EXPECT_NEAR(seconds(work(64, 16, "attention")), 1024e-6, 1e-6);
  EXPECT_NEAR(seconds(work(64, 16, "causal_attention")), 2048e-6, 2e-6);
  ASSERT_EQ(cluster.calibration().kernel_size(), 1) << "the other one has a rate by its shape";
  EXPECT_NEAR(seconds(unfused), 2e-3, 2e-6);
}

TEST(FitTest, StepsSayWhatIsBesideTheKernels) {
  Measured measured;
  const KernelWork small = {0, 0, 1000, {}, "layer_norm"};
  measured.kernels.push_back({small, 1e-6});
  for (int kernels : {100, 300}) {
    measured.small_steps.push_back({std::vector<KernelWork>(kernels, small), 5e-5 + kernels * (1e-6 + 4e-7)});
  }
  Cluster cluster = TwoRanks();
  const plan::Machine machine = FitOf(measured, &cluster);
  EXPECT_NEAR(machine.launch_s, 4e-7, 1e-9);
  EXPECT_NEAR(machine.step_s, 5e-5, 1e-7);
  // The same by two ranks that take each other a fifth of a core: kernels and steps.
  measured.beside = measured.copies = 2, measured.longer = 1.25;
  measured.kernels[0].seconds *= 1.25;
  for (TimedStep& step : measured.small_steps) step.seconds *= 1.25;
  Cluster shared = TwoRanks();
  const plan::Machine of_both = FitOf(measured, &shared);
  EXPECT_NEAR(of_both.launch_s, 4e-7, 1e-9);
  EXPECT_NEAR(of_both.step_s, 5e-5, 1e-7);
}

TEST(FitTest, KernelsTakeWhatAWholeStepSays) {
  const std::vector<plan::Plan> plans = *ProbePlans("cpu");
  Measured measured;
  measured.products.push_back({Product(64, 64, 64), 1e-5});
  for (const KernelWork& work : WorksOfStep(plans[2])) {
    if (work.family != "einsum") measured.kernels.push_back({work, 1e-4});
  }
  const auto step_s = [&] {
    Cluster cluster = TwoRanks();
    return sim::Simulate(plans[2], FitOf(measured, &cluster))->step_s;
  };
  const double alone = step_s();
  measured.plan = &plans[2], measured.plan_s = 1.5 * alone;
  EXPECT_NEAR(step_s(), 1.5 * alone, 0.01 * alone);
  // By two ranks with 1.6 cores, which take each other a fifth of that.
  measured.beside = measured.copies = 2, measured.longer = 1.25;
  EXPECT_NEAR(step_s(), 1.2 * alone, 0.01 * alone);
}

TEST(FitTest, GraphsHaveLaunchesOfTheirOwn) {
  Measured measured;
  const KernelWork small = {0, 0, 1000, {}, "layer_norm"};
  measured.kernels.push_back({small, 1e-6});
  for (int kernels : {100, 300}) {
    const std::vector<KernelWork> works(kernels, small);
    measured.small_steps.push_back({works, 5e-5 + kernels * (1e-6 + 4e-6)});
    measured.graph_steps.push_back({works, 2e-5 + kernels * (1e-6 + 5e-7)});
  }
  Cluster cluster = TwoRanks();
  const plan::Machine machine = FitOf(measured, &cluster);
  EXPECT_NEAR(machine.launch_s, 4e-6, 1e-9);
  EXPECT_NEAR(machine.graph_launch_s, 5e-7, 1e-9);
  EXPECT_NEAR(machine.step_s, 2e-5, 1e-7) << "of steps as they are run";
}

// The simulator gives acts that have no core of their own a part of one: tables hold what they take with one.
TEST(FitTest, CollectivesAreThoseOfRanksWithCores) {
  Measured measured;
  measured.copies = 2, measured.longer = 1.25;
  measured.collectives.push_back({CollectiveKind::kAllReduce, 2, 1, 1e6, 1e-3});
  measured.overlap = {2, 1e-3, 2e-3, 1e-3, 3e-3};
  Cluster cluster = TwoRanks();
  const plan::Machine machine = FitOf(measured, &cluster);
  EXPECT_NEAR(machine.node_cores, 1.6, 1e-9);
  const double seconds = plan::CollectiveSeconds(machine, CollectiveKind::kAllReduce, 1e6, plan::Together(2));
  EXPECT_NEAR(seconds / plan::ShareOfCore(machine, 2), 1e-3, 1e-6);
  EXPECT_NEAR(machine.product_slowdown, 1, 1e-9) << "four acts on the cores of two take twice as long by themselves";
  EXPECT_NEAR(machine.collective_slowdown, 1.5, 1e-3);
}

TEST(FitTest, LinksHaveALatencyAndABandwidth) {
  Measured measured;
  for (double bytes : {4.0, 1e6, 1e7}) measured.transfers.push_back({true, bytes, 1e-5 + bytes / 2e9});
  for (double bytes : {4.0, 1e6, 1e7}) measured.transfers.push_back({false, bytes, 5e-5 + bytes / 1e9});
  Cluster cluster = TwoRanks();
  const plan::Machine machine = FitOf(measured, &cluster);
  EXPECT_NEAR(machine.node.latency_s, 1e-5, 1e-7);
  EXPECT_NEAR(machine.node.bytes_s, 2e9, 1e7);
  EXPECT_NEAR(machine.network.latency_s, 5e-5, 1e-7);
  EXPECT_NEAR(machine.network.bytes_s, 1e9, 1e7);
}

TEST(FitTest, WhatWasNotMeasuredStays) {
  Cluster cluster = TwoRanks();
  cluster.mutable_device()->set_launch_s(3e-6);
  cluster.mutable_node()->set_cores(2);
  const plan::Machine machine = FitOf({}, &cluster);
  EXPECT_EQ(machine.launch_s, 3e-6);
  EXPECT_EQ(machine.node_cores, 2);
  EXPECT_EQ(machine.tables, nullptr);
}

}  // namespace
}  // namespace weft::calibrate
