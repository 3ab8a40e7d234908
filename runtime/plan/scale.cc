#include "runtime/plan/scale.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::plan {
namespace {

void ScaleProducts(double factor, Cluster* cluster) {
  Device& device = *cluster->mutable_device();
  device.set_contraction_flops(device.contraction_flops() * factor);
  Calibration& calibration = *cluster->mutable_calibration();
  const auto scale = [&](auto& rates) {
    for (ProductRate& at : *rates.mutable_product()) at.set_flops_s(at.flops_s() * factor);
    for (KernelRate& at : *rates.mutable_kernel()) at.set_flops_s(at.flops_s() * factor);
  };
  scale(calibration);
  if (calibration.has_far()) scale(*calibration.mutable_far());
}

void ScaleMemory(double factor, Cluster* cluster) {
  Device& device = *cluster->mutable_device();
  device.set_memory_bytes_s(device.memory_bytes_s() * factor);
  Calibration& calibration = *cluster->mutable_calibration();
  for (KernelRate& at : *calibration.mutable_kernel()) at.set_bytes_s(at.bytes_s() * factor);
  if (!calibration.has_far()) return;
  for (KernelRate& at : *calibration.mutable_far()->mutable_kernel()) at.set_bytes_s(at.bytes_s() * factor);
}

void ScaleOther(double factor, Cluster* cluster) {
  Device& device = *cluster->mutable_device();
  device.set_other_flops(device.other_flops() * factor);
}

// Of groups on one node, or on several.
void ScaleCollectives(bool one_node, double factor, Calibration& calibration) {
  using Group = std::tuple<std::string, int64_t, int64_t>;
  const auto group_of = [](const CollectiveTime& at) { return Group(at.kind(), at.on_node(), at.nodes()); };
  std::map<Group, std::pair<double, double>> smallest;  // bytes, seconds
  for (const CollectiveTime& at : calibration.collective()) {
    const auto [it, fresh] = smallest.try_emplace(group_of(at), at.bytes(), at.seconds());
    if (!fresh) it->second = std::min(it->second, std::pair(at.bytes(), at.seconds()));
  }
  for (CollectiveTime& at : *calibration.mutable_collective()) {
    if ((at.nodes() == 1) != one_node) continue;
    const double latency_s = std::min(smallest[group_of(at)].second, at.seconds());
    at.set_seconds(latency_s + (at.seconds() - latency_s) / factor);
  }
}

void ScaleLink(double factor, Cluster* cluster) {
  cluster->mutable_node()->set_link_bytes_s(cluster->node().link_bytes_s() * factor);
  ScaleCollectives(/*one_node=*/true, factor, *cluster->mutable_calibration());
}

void ScaleNetwork(double factor, Cluster* cluster) {
  cluster->mutable_network()->set_link_bytes_s(cluster->network().link_bytes_s() * factor);
  ScaleCollectives(/*one_node=*/false, factor, *cluster->mutable_calibration());
}

constexpr std::pair<const char*, void (*)(double, Cluster*)> kRates[] = {
    {"device.contraction_flops", ScaleProducts}, {"device.memory_bytes_s", ScaleMemory},
    {"device.other_flops", ScaleOther},          {"node.link_bytes_s", ScaleLink},
    {"network.link_bytes_s", ScaleNetwork},
};

// "tier.host.bytes_s", "tier.host.update_bytes_s". False for another key, or another tier.
bool ScaleTier(const std::string& key, double factor, Cluster* cluster) {
  for (Tier& tier : *cluster->mutable_tier()) {
    const std::string prefix = absl::StrCat("tier.", tier.name(), ".");
    if (key == prefix + "bytes_s") {
      tier.set_read_bytes_s(tier.read_bytes_s() * factor);
      tier.set_write_bytes_s(tier.write_bytes_s() * factor);
      return true;
    }
    if (key == prefix + "update_bytes_s") {
      tier.set_update_bytes_s(tier.update_bytes_s() * factor);
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status ScaleRate(const std::string& key, double factor, Cluster* cluster) {
  if (!(factor > 0) || std::isinf(factor)) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": expected a finite factor above 0, got ", factor, "x"));
  }
  const bool calibrated = cluster->has_calibration();
  std::string keys;
  for (const auto& [name, scale] : kRates) {
    if (key == name) {
      scale(factor, cluster);
      if (!calibrated) cluster->clear_calibration();
      return absl::OkStatus();
    }
    absl::StrAppend(&keys, keys.empty() ? "" : ", ", name);
  }
  if (ScaleTier(key, factor, cluster)) return absl::OkStatus();
  for (const Tier& tier : cluster->tier()) {
    absl::StrAppend(&keys, ", tier.", tier.name(), ".bytes_s, tier.", tier.name(), ".update_bytes_s");
  }
  return absl::InvalidArgumentError(
      absl::StrCat(key, ": expected a rate that can be so many times as large (", keys, "), got ", factor, "x"));
}

}  // namespace weft::plan
