#include "tools/plan/cluster.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/job/cluster.h"
#include "runtime/plan/cluster.h"

namespace weft::tools {
namespace {

constexpr char kFile[] = "cluster=";

int64_t RanksOf(const plan::Plan& plan) {
  int64_t ranks = 0;
  for (const plan::Placement& placement : plan.placements()) {
    for (int32_t rank : placement.ranks()) ranks = std::max<int64_t>(ranks, int64_t{rank} + 1);
  }
  return ranks;
}

absl::StatusOr<Cluster> OwnCluster(const plan::Plan& plan, const std::vector<std::string>& changes) {
  Cluster cluster = plan.header().cluster();
  if (!plan.header().has_cluster()) {
    cluster.mutable_device()->set_kind("cpu");
    cluster.mutable_node()->set_count(1);
    cluster.mutable_node()->set_ranks(std::max<int64_t>(RanksOf(plan), 1));
  }
  if (absl::Status status = OverrideCluster(changes, &cluster); !status.ok()) return status;
  return cluster;
}

absl::StatusOr<Cluster> ClusterOfFile(const std::string& file, const std::string& path, const plan::Plan& plan,
                                      const std::vector<std::string>& changes) {
  absl::StatusOr<Cluster> cluster = LoadCluster(file, changes);
  if (!cluster.ok() || cluster->device().kind() == plan.header().target()) return cluster;
  return absl::InvalidArgumentError(absl::StrCat(file, ": device.kind: expected ", plan.header().target(), ", which ",
                                                 path, " is for, got ", cluster->device().kind()));
}

}  // namespace

absl::StatusOr<Cluster> ClusterOf(const std::string& path, const plan::Plan& plan,
                                  const std::vector<std::string>& keys) {
  std::vector<std::string> changes = keys;
  const auto named =
      std::find_if(changes.begin(), changes.end(), [](const std::string& key) { return absl::StartsWith(key, kFile); });
  std::string file;
  if (named != changes.end()) {
    file = named->substr(sizeof(kFile) - 1);
    changes.erase(named);
  }
  absl::StatusOr<Cluster> cluster = file.empty() ? OwnCluster(plan, changes) : ClusterOfFile(file, path, plan, changes);
  if (!cluster.ok()) return cluster.status();
  if (cluster->node().count() * cluster->node().ranks() < RanksOf(plan)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cluster: expected at least ", RanksOf(plan),
                                                   " ranks, as the plan has, got ", cluster->node().count(), " x ",
                                                   cluster->node().ranks(), " (node.count x node.ranks)"));
  }
  return cluster;
}

absl::StatusOr<sim::Report> Simulated(const std::string& path, const plan::Plan& plan, const Cluster& cluster,
                                      const sim::Options& options) {
  absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(cluster), options);
  if (report.ok()) return report;
  return absl::Status(report.status().code(), absl::StrCat(path, ": ", report.status().message()));
}

}  // namespace weft::tools
