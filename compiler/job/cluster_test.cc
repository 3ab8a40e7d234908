#include "compiler/job/cluster.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

using testing::HasSubstr;

std::string Write(const std::string& text) {
  const std::string path = testing::TempDir() + "/c.cluster";
  std::ofstream(path) << text;
  return path;
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(ClusterTest, NoFileIsTheLocalMachine) {
  const absl::StatusOr<Cluster> cluster = LoadCluster("");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->node().count() * cluster->node().ranks(), kMostLocalRanks);
  EXPECT_EQ(cluster->device().memory_bytes(), 0);
  EXPECT_GT(cluster->device().contraction_flops(), 0);
}

TEST(ClusterTest, FilesOfTheTreeLoad) {
  for (const char* name :
       {"laptop", "8x8cpu", "8xh200", "128x8h200", "dgx_a100", "dgx_h100", "dgx_h200", "gb200_nvl72", "8xl40s"}) {
    const absl::StatusOr<Cluster> cluster = LoadCluster(absl::StrCat("clusters/", name, ".cluster"));
    EXPECT_TRUE(cluster.ok()) << cluster.status();
  }
  EXPECT_EQ(LoadCluster("clusters/8x8cpu.cluster")->network().link_bytes_s(), 1.5e9);
  const Cluster big = *LoadCluster("clusters/128x8h200.cluster");
  EXPECT_EQ(big.node().count() * big.node().ranks(), 1024);
  EXPECT_EQ(big.device().kind(), "cuda");
}

TEST(ClusterTest, ErrorsNameTheKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"device { kind: 'tpu' } node { count: 1 ranks: 1 }", "device.kind: expected \"cpu\" or \"cuda\", got \"tpu\""},
      {"device { kind: 'cpu' } node { ranks: 1 }", "node.count: expected 1 or more, got 0"},
      {"device { kind: 'cpu' } node { count: 2 }", "node.ranks: expected 1 or more, got 0"},
      {"device { kind: 'cpu' memory_bytes: -1 } node { count: 2 ranks: 1 }",
       "device.memory_bytes: expected 0 or more, got -1"},
      {"device { kind: 'cpu' } node { count: 2 ranks: 1 latency_s: -1 }",
       "node.latency_s: expected a number of 0 or more, got -1"},
      {"device { kind: 'cuda' } node { count: 1 ranks: 1 }",
       "device.contraction_flops: expected a rate above 0, which cuda has no default for, got 0"},
      {"device { kind: 'cuda' contraction_flops: 1 other_flops: 1 memory_bytes_s: 1 }"
       " node { count: 2 ranks: 1 link_bytes_s: 1 }",
       "network.link_bytes_s: expected a rate above 0"},
      {"nods: 2", "nods"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_THAT(ErrorOf(LoadCluster(Write(text)).status()), HasSubstr(error)) << text;
  }
  EXPECT_EQ(LoadCluster("none.cluster").status().code(), absl::StatusCode::kNotFound);
}

constexpr char kCpu[] = "device { kind: 'cpu' name: 'some processor' memory_bytes: 100 } node { count: 1 ranks: 2 }\n";

TEST(ClusterTest, ACalibrationMayLieInAFile) {
  std::ofstream(testing::TempDir() + "/c.calibration") << "device_kind: 'cpu' step_s: 0.5";
  const absl::StatusOr<Cluster> cluster = LoadCluster(Write(absl::StrCat(kCpu, "calibration_file: 'c.calibration'")));
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->calibration().step_s(), 0.5);
  EXPECT_TRUE(cluster->calibration_file().empty()) << "a plan says all of it";
  std::ofstream(testing::TempDir() + "/c.calibration") << "device_kind: 'cpu'\nproduct { m: 1";
  EXPECT_THAT(ErrorOf(LoadCluster(Write(absl::StrCat(kCpu, "calibration_file: 'c.calibration'"))).status()),
              HasSubstr("/c.calibration:2:15: "));
  EXPECT_THAT(ErrorOf(LoadCluster(Write(absl::StrCat(kCpu, "calibration_file: 'none'"))).status()),
              HasSubstr("calibration_file: expected a calibration at"));
}

TEST(ClusterTest, ErrorsOfACalibrationNameTheKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"device_kind: 'cuda'", "calibration.device_kind: expected \"cpu\", as device.kind, got \"cuda\""},
      {"", "calibration.device_kind: expected \"cpu\", as device.kind, got \"\""},
      {"device_kind: 'cpu' device: 'another'",
       "calibration.device: expected \"some processor\", as device.name, got \"another\""},
      {"device_kind: 'cpu' step_s: -1", "calibration.step_s: expected a number of 0 or more, got -1"},
      {"device_kind: 'cpu' step_s: nan", "calibration.step_s: expected a number of 0 or more, got nan"},
      {"device_kind: 'cpu' reserve_bytes: 100",
       "calibration.reserve_bytes: expected 0 to less than device.memory_bytes, 100, got 100"},
      {"device_kind: 'cpu' overlap { product_slowdown: 0.5 }",
       "calibration.overlap.product_slowdown: expected a finite number of 1 or more, got 0.5"},
      {"device_kind: 'cpu' product { m: 1 n: 1 k: 1 type: 'f32' flops_s: -1 }",
       "calibration.product[0].flops_s: expected a finite number above 0, got -1"},
      {"device_kind: 'cpu' collective { kind: 'gather' }", "calibration.collective[0].kind: expected \"all_reduce\", "},
      {"device_kind: 'cpu' nccl { ll_bytes_s: 1 }", "calibration.nccl.ll_bytes_s: expected 3 numbers, got 1"},
      {"device_kind: 'cpu' nccl { ll_bytes_s: [1, 1, -1] }",
       "calibration.nccl.ll_bytes_s: expected finite numbers above 0, got -1"},
      {"device_kind: 'cpu' nccl { ll_bytes_s: [1, 1, 1] nvls_efficiency: 2 }",
       "calibration.nccl.nvls_efficiency: expected 0 to 1, got 2"},
      {"device_kind: 'cpu' product { m: 1 k: 1 type: 'f32' flops_s: 1 }",
       "calibration.product[0].n: expected a finite number above 0, got 0"},
      {"device_kind: 'cpu' far { bytes: 2 }", "calibration.far.near_bytes: expected a finite number above 0, got 0"},
      {"device_kind: 'cpu' far { near_bytes: 2 bytes: 2 }",
       "calibration.far.bytes: expected a finite number above near_bytes, 2, got 2"},
      {"device_kind: 'cpu' product { m: 1 n: 1 k: 1 type: 'fp32' flops_s: 1 }",
       "calibration.product[0].type: expected one of f32, bf16, f16, f64, tf32, got \"fp32\""},
      {"device_kind: 'cpu' product { m: 1 n: 1 k: 1 type: 'f32' flops_s: 1 within: 'casual_attention' }",
       "calibration.product[0].within: expected the name of a kernel, with \"causal_\" before it or not, got "
       "\"casual_attention\", which no plan has"},
      {"device_kind: 'cpu' kernel { family: 'layernorm' bytes: 1 bytes_s: 1 }",
       "calibration.kernel[0].family: expected the name of a kernel, got \"layernorm\", which no plan has"},
      {"device_kind: 'cpu' kernel { family: 'layer_norm' bytes: 1 bytes_s: 1 type: 'tf32' }",
       "calibration.kernel[0].type: expected none or one of f32, bf16, f16, f64, got \"tf32\""},
      {"device_kind: 'cpu' far { near_bytes: 1 bytes: 2 kernel { family: 'norm' bytes: 1 bytes_s: 1 } }",
       "calibration.far.kernel[0].family: expected the name of a kernel, got \"norm\", which no plan has"},
      {"device_kind: 'cpu' far { near_bytes: 1 bytes: 2 kernel { family: 'norm' bytes: 1 } }",
       "calibration.far.kernel[0].bytes_s: expected a finite number above 0, got 0"},
      {"device_kind: 'cpu' nodes: 3", "c.cluster:2:34: "},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_THAT(ErrorOf(LoadCluster(Write(absl::StrCat(kCpu, "calibration { ", text, " }"))).status()),
                HasSubstr(error))
        << text;
  }
}

TEST(ClusterTest, ACalibrationOfADeviceIsForOneWithAName) {
  const std::string calibration = "calibration { device_kind: 'cpu' device: 'some processor' step_s: 1 }";
  EXPECT_TRUE(LoadCluster(Write(kCpu + calibration)).ok());
  EXPECT_THAT(ErrorOf(LoadCluster(Write("device { kind: 'cpu' } node { count: 1 ranks: 2 }" + calibration)).status()),
              HasSubstr("device.name: expected \"some processor\", as calibration.device, got none"));
}

TEST(ClusterTest, OverridesApplyToTheFile) {
  const absl::StatusOr<Cluster> cluster =
      LoadCluster("clusters/8x8cpu.cluster", {"cluster.node.count=64", "cluster.network.link_bytes_s=5e10"});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->node().count(), 64);
  EXPECT_EQ(cluster->node().ranks(), 8);
  EXPECT_EQ(cluster->network().link_bytes_s(), 5e10);
  EXPECT_EQ(ErrorOf(LoadCluster("", {"cluster.node.counts=64"}).status()),
            "cluster.node.counts: unknown key counts: expected count, ranks, link_bytes_s, latency_s, cores; did you "
            "mean count?");
  EXPECT_EQ(ErrorOf(LoadCluster("", {"cluster.node.count=0"}).status()),
            "cluster.node.count: expected 1 or more, got 0");
  EXPECT_EQ(ErrorOf(LoadCluster("", {"cluster.=0"}).status()), "override: expected key.path=value, got \"cluster.=0\"");
  Cluster there = *cluster;
  ASSERT_TRUE(OverrideCluster({"cluster.device={kind: \"cpu\" launch_s: 1}"}, &there).ok());
  EXPECT_EQ(there.device().launch_s(), 1);
  EXPECT_GT(there.device().other_flops(), 0);
  EXPECT_THAT(ErrorOf(OverrideCluster({"dist.data=2"}, &there)), HasSubstr("expected cluster.key.path=value"));
}

TEST(ClusterTest, AMeshHasAtMostTheRanksOfTheCluster) {
  Job job;
  job.set_cluster("clusters/8x8cpu.cluster");
  job.mutable_dist()->set_data(32);
  job.mutable_dist()->set_tensor(2);
  job.mutable_dist()->set_expert(1);
  job.mutable_dist()->set_context(1);
  const Cluster cluster = *LoadCluster(job.cluster());
  EXPECT_TRUE(CheckOnCluster(job, cluster).ok());
  job.mutable_dist()->set_data(33);
  EXPECT_THAT(ErrorOf(CheckOnCluster(job, cluster)),
              HasSubstr("dist: expected at most 64 ranks of clusters/8x8cpu.cluster, got data 33 x tensor 2 = 66"));
  job.mutable_dist()->set_data(1);
  job.mutable_dist()->set_tensor(65);
  EXPECT_EQ(ErrorOf(CheckOnCluster(job, cluster)),
            "dist: expected at most 64 ranks of clusters/8x8cpu.cluster, got tensor 65");
  job.mutable_dist()->set_tensor(5);
  job.mutable_dist()->set_pipeline(13);
  EXPECT_THAT(ErrorOf(CheckOnCluster(job, cluster)), HasSubstr("got pipeline 13 x tensor 5 = 65"));
}

constexpr char kTier[] = "tier { name: 'disk' read_bytes_s: 2e9 write_bytes_s: 1e9 }\n";

TEST(ClusterTest, ErrorsOfATierNameTheKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"tier { read_bytes_s: 1 write_bytes_s: 1 }", "tier[1].name: expected a name, got none"},
      {kTier, "tier[1].name: expected one of its own, got \"disk\" again"},
      {"tier { name: 'x' read_bytes_s: 1 }", "tier[1].write_bytes_s: expected a finite rate above 0, got 0"},
      {"tier { name: 'x' read_bytes_s: inf write_bytes_s: 1 }",
       "tier[1].read_bytes_s: expected a finite rate above 0, got inf"},
      {"tier { name: 'x' read_bytes_s: 1 write_bytes_s: 1 memory_bytes: -1 }",
       "tier[1].memory_bytes: expected 0 or more, got -1"},
      {"tier { name: 'x' read_bytes_s: 1 write_bytes_s: 1 latency_s: -1 }",
       "tier[1].latency_s: expected a finite number of 0 or more, got -1"},
      {"tier { name: 'x' kind: HOST read_bytes_s: 1 write_bytes_s: 1 update_bytes_s: -1 }",
       "tier[1].update_bytes_s: expected a finite rate of 0 or more, got -1"},
      {"tier { name: 'x' read_bytes_s: 1 write_bytes_s: 1 update_bytes_s: 2 }",
       "tier[1].update_bytes_s: expected 0 of what is no memory of the host, got 2"},
  };
  EXPECT_TRUE(LoadCluster(Write(absl::StrCat(kCpu, kTier))).ok());
  for (const auto& [text, error] : cases) {
    EXPECT_THAT(ErrorOf(LoadCluster(Write(absl::StrCat(kCpu, kTier, text))).status()), HasSubstr(error)) << text;
  }
}

TEST(ClusterTest, WhatIsOffloadedHasATier) {
  Job job;
  job.set_cluster("a.cluster");
  job.mutable_dist()->set_data(1);
  Cluster cluster = *LoadCluster(Write(kCpu));
  EXPECT_TRUE(CheckOnCluster(job, cluster).ok());
  job.mutable_zero()->set_offload(Zero::OPTIMIZER);
  EXPECT_EQ(ErrorOf(CheckOnCluster(job, cluster)),
            "zero.offload: expected a cluster with tiers below the device, got a.cluster, which has none");
  cluster = *LoadCluster(Write(absl::StrCat(kCpu, kTier)));
  EXPECT_TRUE(CheckOnCluster(job, cluster).ok());
  Job resolved = job;
  ResolveTiers(cluster, &resolved);
  EXPECT_EQ(resolved.zero().tier(), "disk");
  EXPECT_EQ(resolved.recompute().tier(), "") << "nothing lies there";
  job.mutable_recompute()->set_offload(true);
  job.mutable_recompute()->set_tier("tape");
  EXPECT_EQ(ErrorOf(CheckOnCluster(job, cluster)), "recompute.tier: expected a tier of a.cluster, `disk`, got `tape`");
}

// Of one layer too; and AUTO may choose so.
TEST(ClusterTest, WhatALayerKeepsHasATier) {
  Job job;
  job.set_cluster("a.cluster");
  job.mutable_dist()->set_data(1);
  Recompute& recompute = *job.mutable_recompute();
  recompute.add_layers()->set_offload(true);
  EXPECT_EQ(ErrorOf(CheckOnCluster(job, *LoadCluster(Write(kCpu)))),
            "recompute.offload: expected a cluster with tiers below the device, got a.cluster, which has none");
  const Cluster cluster = *LoadCluster(Write(absl::StrCat(kCpu, kTier)));
  EXPECT_TRUE(CheckOnCluster(job, cluster).ok());
  ResolveTiers(cluster, &job);
  EXPECT_EQ(recompute.tier(), "disk");
  recompute.clear_layers();
  EXPECT_FALSE(MayOffload(recompute));
  recompute.set_policy(Recompute::AUTO);
  EXPECT_TRUE(MayOffload(recompute));
  recompute.set_tier("tape");
  EXPECT_FALSE(CheckOnCluster(job, cluster).ok());
  recompute.set_offload(false);
  EXPECT_FALSE(MayOffload(recompute));
}

TEST(ClusterTest, TheHostUpdatesWhereItHasMemoryAndARate) {
  const std::string kHost = "tier { name: 'host' kind: HOST read_bytes_s: 1e9 write_bytes_s: 1e9 ";
  Job job;
  job.set_cluster("a.cluster");
  job.mutable_dist()->set_data(1);
  job.mutable_zero()->set_offload(Zero::OPTIMIZER);
  job.mutable_zero()->set_update(Zero::HOST);
  const std::string expected =
      "zero.update=HOST: expected a tier of kind HOST with update_bytes_s, which says at what rate the host updates, "
      "got ";
  EXPECT_EQ(ErrorOf(CheckOnCluster(job, *LoadCluster(Write(absl::StrCat(kCpu, kTier))))),
            expected + "`disk` of kind DISK");
  EXPECT_EQ(ErrorOf(CheckOnCluster(job, *LoadCluster(Write(absl::StrCat(kCpu, kHost, "}"))))),
            expected + "`host` of kind HOST without it");
  const std::string both = absl::StrCat(kCpu, kTier, kHost, "update_bytes_s: 1e9 }");
  EXPECT_FALSE(CheckOnCluster(job, *LoadCluster(Write(both))).ok()) << "the first tier";
  job.mutable_zero()->set_tier("host");
  EXPECT_TRUE(CheckOnCluster(job, *LoadCluster(Write(both))).ok());
}

TEST(ClusterTest, ARateMayBeSoManyTimesWhatItIs) {
  const absl::StatusOr<Cluster> twice = LoadCluster("", {"cluster.device.memory_bytes_s=2x"});
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_EQ(twice->device().memory_bytes_s(), 2 * LoadCluster("")->device().memory_bytes_s()) << "of its default";
  EXPECT_EQ(
      LoadCluster("", {"cluster.node.link_bytes_s=8e9", "cluster.node.link_bytes_s=0.25x"})->node().link_bytes_s(),
      2e9);
  EXPECT_THAT(ErrorOf(LoadCluster("", {"cluster.node.ranks=2x"}).status()),
              HasSubstr("cluster.node.ranks: expected a rate that can be so many times as large (device."));
  EXPECT_THAT(ErrorOf(LoadCluster("", {"cluster.node.link_bytes_s=0x"}).status()),
              HasSubstr("cluster.node.link_bytes_s: expected a finite factor above 0, got 0x"));
}

}  // namespace
}  // namespace weft
