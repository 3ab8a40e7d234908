#include "compiler/job/cluster.h"

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "compiler/job/text.h"

namespace weft {
namespace {

absl::Status Wrong(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

void FillRate(double fallback, double value, void (Rates::*set)(double), Rates* rates) {
  if (value == 0) (rates->*set)(fallback);
}

// One core of a current x86 server, and ranks that share its memory.
void FillRates(Rates* rates) {
  FillRate(100e9, rates->contraction_flops(), &Rates::set_contraction_flops, rates);
  FillRate(4e9, rates->other_flops(), &Rates::set_other_flops, rates);
  FillRate(10e9, rates->memory_bytes_s(), &Rates::set_memory_bytes_s, rates);
  FillRate(3e9, rates->link_bytes_s(), &Rates::set_link_bytes_s, rates);
  FillRate(10e-6, rates->latency_s(), &Rates::set_latency_s, rates);
}

absl::Status CheckCluster(const std::string& path, const Cluster& cluster) {
  if (cluster.device() != "cpu") {
    return Wrong(path, absl::StrCat("device: expected \"cpu\", got \"", cluster.device(), "\""));
  }
  if (cluster.nodes() < 1) return Wrong(path, absl::StrCat("nodes: expected 1 or more, got ", cluster.nodes()));
  if (cluster.ranks_per_node() < 1) {
    return Wrong(path, absl::StrCat("ranks_per_node: expected 1 or more, got ", cluster.ranks_per_node()));
  }
  if (cluster.memory_bytes() < 0) {
    return Wrong(path, absl::StrCat("memory_bytes: expected 0 or more, got ", cluster.memory_bytes()));
  }
  const Rates& rates = cluster.rates();
  for (double rate : {rates.contraction_flops(), rates.other_flops(), rates.memory_bytes_s(), rates.link_bytes_s(),
                      rates.latency_s()}) {
    if (!(rate >= 0)) return Wrong(path, absl::StrCat("rates: expected 0 or more, got ", rate));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Cluster> LoadCluster(const std::string& path) {
  Cluster cluster;
  if (path.empty()) {
    cluster.set_device("cpu");
    cluster.set_nodes(1);
    cluster.set_ranks_per_node(kMostLocalRanks);
  } else {
    std::ifstream file(path);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()))
      return absl::NotFoundError(absl::StrCat(path, ": expected a cluster file, found none"));
    if (absl::Status status = ParseText(text.str(), path, &cluster); !status.ok()) return status;
  }
  if (absl::Status status = CheckCluster(path, cluster); !status.ok()) return status;
  FillRates(cluster.mutable_rates());
  return cluster;
}

absl::Status CheckRanks(const Job& job, const Cluster& cluster) {
  const Dist& dist = job.dist();
  const int64_t wanted = dist.data() * dist.tensor() * dist.expert() * dist.context();
  const int64_t there = cluster.nodes() * cluster.ranks_per_node();
  if (job.cluster().empty() || wanted <= there) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "dist: expected at most ", there, " ranks of ", job.cluster(), ", got ", dist.data(), " x ", dist.tensor(), " x ",
      dist.expert(), " x ", dist.context(), " (data x tensor x expert x context) = ", wanted));
}

}  // namespace weft
