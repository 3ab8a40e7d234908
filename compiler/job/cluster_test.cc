#include "compiler/job/cluster.h"

#include <fstream>

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

TEST(ClusterTest, NoFileIsTheLocalMachine) {
  const absl::StatusOr<Cluster> cluster = LoadCluster("");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->nodes() * cluster->ranks_per_node(), kLocalRanks);
  EXPECT_EQ(cluster->memory_bytes(), 0);
  EXPECT_GT(cluster->rates().contraction_flops(), 0);
}

TEST(ClusterTest, FilesOfTheTreeLoad) {
  for (const char* path : {"clusters/laptop.cluster", "clusters/8x8cpu.cluster"}) {
    const absl::StatusOr<Cluster> cluster = LoadCluster(path);
    EXPECT_TRUE(cluster.ok()) << cluster.status();
  }
  EXPECT_EQ(LoadCluster("clusters/8x8cpu.cluster")->rates().link_bytes_s(), 1.5e9);
}

TEST(ClusterTest, ErrorsNameTheKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"device: 'tpu' nodes: 1 ranks_per_node: 1", "device: expected \"cpu\", got \"tpu\""},
      {"device: 'cpu' ranks_per_node: 1", "nodes: expected 1 or more, got 0"},
      {"device: 'cpu' nodes: 2", "ranks_per_node: expected 1 or more, got 0"},
      {"device: 'cpu' nodes: 2 ranks_per_node: 1 memory_bytes: -1", "memory_bytes: expected 0 or more, got -1"},
      {"device: 'cpu' nodes: 2 ranks_per_node: 1 rates { latency_s: -1 }", "rates: expected 0 or more, got -1"},
      {"nods: 2", "nods"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_THAT(std::string(LoadCluster(Write(text)).status().message()), HasSubstr(error)) << text;
  }
  EXPECT_EQ(LoadCluster("none.cluster").status().code(), absl::StatusCode::kNotFound);
}

TEST(ClusterTest, AMeshHasAtMostTheRanksOfTheCluster) {
  Job job;
  job.mutable_dist()->set_data(32);
  job.mutable_dist()->set_tensor(2);
  job.mutable_dist()->set_expert(1);
  job.mutable_dist()->set_context(1);
  EXPECT_TRUE(CheckRanks(job, *LoadCluster("")).ok());
  job.mutable_dist()->set_data(33);
  EXPECT_THAT(std::string(CheckRanks(job, *LoadCluster("")).message()),
              HasSubstr("dist: expected at most 64 ranks, which one process on this machine runs, got 66"));
}

}  // namespace
}  // namespace weft
