#include "runtime/plan/cluster.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "ops/abi/dtype.h"
#include "ops/abi/kernel_names.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {
namespace {

struct Rate {
  const char* key;
  double value;
  bool needed;  // where there is no default
};

absl::Status Expected(const std::string& key, const std::string& expected, const std::string& got) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": expected ", expected, ", got ", got));
}

// Of a calibration, or of what is far in it.
template <typename Rates>
std::vector<ProductRate> ProductsOf(const Rates& rates) {
  std::vector<ProductRate> products;
  for (const weft::ProductRate& at : rates.product()) {
    products.push_back({at.type(), static_cast<double>(at.m()), static_cast<double>(at.n()),
                        static_cast<double>(at.k()), at.flops_s(), at.within()});
  }
  return products;
}

template <typename Rates>
std::vector<KernelRate> KernelsOf(const Rates& rates) {
  std::vector<KernelRate> kernels;
  for (const weft::KernelRate& at : rates.kernel()) {
    kernels.push_back({at.family(), at.bytes(), at.bytes_s(), at.flops_s(), at.type()});
  }
  return kernels;
}

// "f32", "bf16", ...: the types of elements that have a point.
std::vector<std::string> FloatTypes() {
  std::vector<std::string> types;
  for (const ElementType& row : kElementTypes) {
    if (row.is_float) types.push_back(row.name);
  }
  return types;
}

// A rate of what no plan has would count nowhere. `where`: "calibration."
template <typename Rates>
absl::Status CheckNames(const std::string& where, const Rates& rates) {
  const auto is_in = [](const std::vector<std::string>& types, const std::string& type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  const std::vector<std::string> of_kernels = FloatTypes();
  std::vector<std::string> of_products = of_kernels;
  of_products.push_back("tf32");
  for (int i = 0; i < rates.product_size(); ++i) {
    const weft::ProductRate& at = rates.product(i);
    const std::string key = absl::StrCat(where, "product[", i, "]");
    if (!is_in(of_products, at.type())) {
      return Expected(key + ".type", absl::StrCat("one of ", absl::StrJoin(of_products, ", ")),
                      "\"" + at.type() + "\"");
    }
    if (!at.within().empty() && !IsKernelName(std::string(absl::StripPrefix(at.within(), "causal_")))) {
      return Expected(key + ".within", "the name of a kernel, with \"causal_\" before it or not",
                      "\"" + at.within() + "\", which no plan has");
    }
  }
  for (int i = 0; i < rates.kernel_size(); ++i) {
    const weft::KernelRate& at = rates.kernel(i);
    const std::string key = absl::StrCat(where, "kernel[", i, "]");
    if (at.family() != kGeneratedFamily && !IsKernelName(at.family())) {
      return Expected(key + ".family", "the name of a kernel", "\"" + at.family() + "\", which no plan has");
    }
    if (!at.type().empty() && !is_in(of_kernels, at.type())) {
      return Expected(key + ".type", absl::StrCat("none or one of ", absl::StrJoin(of_kernels, ", ")),
                      "\"" + at.type() + "\"");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RateTables> TablesOf(const Far& far) { return RateTables::Of(ProductsOf(far), KernelsOf(far), {}); }

// The tables of a calibration.
absl::StatusOr<RateTables> TablesOf(const Calibration& calibration) {
  std::vector<CollectiveTime> collectives;
  for (const weft::CollectiveTime& at : calibration.collective()) {
    const auto* facts = std::find_if(std::begin(kCollectiveFacts), std::end(kCollectiveFacts),
                                     [&](const CollectiveFacts& it) { return it.name == at.kind(); });
    if (facts == std::end(kCollectiveFacts)) {
      return Expected(absl::StrCat("collective[", collectives.size(), "].kind"),
                      "\"all_reduce\", \"reduce_scatter\", \"all_gather\", \"all_to_all\", \"shift\" or \"zigzag\"",
                      "\"" + at.kind() + "\"");
    }
    const auto kind = static_cast<CollectiveKind>(facts - kCollectiveFacts);
    collectives.push_back({kind, at.on_node(), at.nodes(), at.bytes(), at.seconds()});
  }
  return RateTables::Of(ProductsOf(calibration), KernelsOf(calibration), std::move(collectives));
}

absl::Status CheckFar(const Far& far) {
  if (!(far.near_bytes() > 0) || std::isinf(far.near_bytes())) {
    return Expected("calibration.far.near_bytes", "a finite number above 0", absl::StrCat(far.near_bytes()));
  }
  if (!(far.bytes() > far.near_bytes()) || std::isinf(far.bytes())) {
    return Expected("calibration.far.bytes", absl::StrCat("a finite number above near_bytes, ", far.near_bytes()),
                    absl::StrCat(far.bytes()));
  }
  const absl::Status status = TablesOf(far).status();
  return status.ok() ? CheckNames("calibration.far.", far)
                     : absl::Status(status.code(), absl::StrCat("calibration.far.", status.message()));
}

absl::Status CheckNccl(const weft::Nccl& nccl) {
  if (nccl.ll_bytes_s_size() != 3) {
    return Expected("calibration.nccl.ll_bytes_s", "3 numbers", absl::StrCat(nccl.ll_bytes_s_size()));
  }
  for (double rate : nccl.ll_bytes_s()) {
    if (rate > 0 && std::isfinite(rate)) continue;
    return Expected("calibration.nccl.ll_bytes_s", "finite numbers above 0", absl::StrCat(rate));
  }
  if (!(nccl.nvls_efficiency() >= 0 && nccl.nvls_efficiency() <= 1)) {
    return Expected("calibration.nccl.nvls_efficiency", "0 to 1", absl::StrCat(nccl.nvls_efficiency()));
  }
  if (nccl.net_overhead_s() >= 0 && std::isfinite(nccl.net_overhead_s())) return absl::OkStatus();
  return Expected("calibration.nccl.net_overhead_s", "a number of 0 or more", absl::StrCat(nccl.net_overhead_s()));
}

absl::Status CheckCalibration(const Cluster& cluster) {
  const Calibration& calibration = cluster.calibration();
  if (calibration.device_kind() != cluster.device().kind()) {
    return Expected("calibration.device_kind", "\"" + cluster.device().kind() + "\", as device.kind",
                    "\"" + calibration.device_kind() + "\"");
  }
  const std::string &name = cluster.device().name(), &of = calibration.device();
  if (!of.empty() && name.empty()) {
    return Expected("device.name", "\"" + of + "\", as calibration.device", "none");
  }
  if (!of.empty() && name != of) {
    return Expected("calibration.device", "\"" + name + "\", as device.name", "\"" + of + "\"");
  }
  for (const auto& [key, value] : {std::pair("product_slowdown", calibration.overlap().product_slowdown()),
                                   std::pair("collective_slowdown", calibration.overlap().collective_slowdown())}) {
    if (value == 0 || (value >= 1 && std::isfinite(value))) continue;
    return Expected(absl::StrCat("calibration.overlap.", key), "a finite number of 1 or more", absl::StrCat(value));
  }
  if (!(calibration.step_s() >= 0) || std::isinf(calibration.step_s())) {
    return Expected("calibration.step_s", "a number of 0 or more", absl::StrCat(calibration.step_s()));
  }
  if (calibration.has_nccl()) {
    if (absl::Status status = CheckNccl(calibration.nccl()); !status.ok()) return status;
  }
  if (calibration.has_far()) {
    if (absl::Status status = CheckFar(calibration.far()); !status.ok()) return status;
  }
  const int64_t memory = cluster.device().memory_bytes(), reserve = calibration.reserve_bytes();
  if (reserve < 0 || (memory > 0 && reserve >= memory)) {
    return Expected("calibration.reserve_bytes",
                    memory > 0 ? absl::StrCat("0 to less than device.memory_bytes, ", memory) : "0 or more",
                    absl::StrCat(reserve));
  }
  const absl::StatusOr<RateTables> tables = TablesOf(calibration);
  if (tables.ok()) return CheckNames("calibration.", calibration);
  return absl::Status(tables.status().code(), absl::StrCat("calibration.", tables.status().message()));
}

absl::Status CheckCounts(const Cluster& cluster) {
  if (cluster.node().count() < 1) return Expected("node.count", "1 or more", absl::StrCat(cluster.node().count()));
  if (cluster.node().ranks() < 1) return Expected("node.ranks", "1 or more", absl::StrCat(cluster.node().ranks()));
  if (cluster.node().count() > (int64_t{1} << 31) / cluster.node().ranks()) {
    return Expected("node", "at most 2^31 ranks", absl::StrCat(cluster.node().count(), " x ", cluster.node().ranks()));
  }
  if (cluster.device().memory_bytes() >= 0) return absl::OkStatus();
  return Expected("device.memory_bytes", "0 or more", absl::StrCat(cluster.device().memory_bytes()));
}

absl::Status CheckTiers(const Cluster& cluster) {
  std::set<std::string> names;
  for (int t = 0; t < cluster.tier_size(); ++t) {
    const Tier& tier = cluster.tier(t);
    const std::string key = absl::StrCat("tier[", t, "]");
    if (tier.name().empty()) return Expected(key + ".name", "a name", "none");
    if (!names.insert(tier.name()).second)
      return Expected(key + ".name", "one of its own", "\"" + tier.name() + "\" again");
    if (tier.memory_bytes() < 0) return Expected(key + ".memory_bytes", "0 or more", absl::StrCat(tier.memory_bytes()));
    for (const auto& [rate, value] :
         {std::pair("read_bytes_s", tier.read_bytes_s()), std::pair("write_bytes_s", tier.write_bytes_s())}) {
      if (value > 0 && std::isfinite(value)) continue;
      return Expected(absl::StrCat(key, ".", rate), "a finite rate above 0", absl::StrCat(value));
    }
    if (!(tier.latency_s() >= 0 && std::isfinite(tier.latency_s())))
      return Expected(key + ".latency_s", "a finite number of 0 or more", absl::StrCat(tier.latency_s()));
    if (!(tier.update_bytes_s() >= 0 && std::isfinite(tier.update_bytes_s())))
      return Expected(key + ".update_bytes_s", "a finite rate of 0 or more", absl::StrCat(tier.update_bytes_s()));
    if (tier.update_bytes_s() > 0 && tier.kind() != Tier::HOST)
      return Expected(key + ".update_bytes_s", "0 of what is no memory of the host",
                      absl::StrCat(tier.update_bytes_s()));
  }
  return absl::OkStatus();
}

void Fill(double fallback, double* value) {
  if (*value == 0) *value = fallback;
}

}  // namespace

absl::Status CheckCluster(const Cluster& cluster) {
  const std::string& name = cluster.device().kind();
  const DeviceKind* kind = FindDeviceKind(name);
  if (kind == nullptr) return Expected("device.kind", DeviceKindNames("\""), "\"" + name + "\"");
  if (absl::Status status = CheckCounts(cluster); !status.ok()) return status;
  const bool joined = cluster.node().count() > 1;
  const Rate rates[] = {
      {"device.contraction_flops", cluster.device().contraction_flops(), true},
      {"device.other_flops", cluster.device().other_flops(), true},
      {"device.memory_bytes_s", cluster.device().memory_bytes_s(), true},
      {"device.launch_s", cluster.device().launch_s(), false},
      {"device.graph_launch_s", cluster.device().graph_launch_s(), false},
      {"node.link_bytes_s", cluster.node().link_bytes_s(), true},
      {"node.latency_s", cluster.node().latency_s(), false},
      {"node.cores", cluster.node().cores(), false},
      {"network.link_bytes_s", cluster.network().link_bytes_s(), joined},
      {"network.latency_s", cluster.network().latency_s(), false},
  };
  for (const Rate& rate : rates) {
    if (!(rate.value >= 0) || std::isinf(rate.value)) {
      return Expected(rate.key, "a number of 0 or more", absl::StrCat(rate.value));
    }
    if (rate.needed && !kind->host && rate.value == 0) {
      return Expected(rate.key, absl::StrCat("a rate above 0, which ", name, " has no default for"), "0");
    }
  }
  if (absl::Status status = CheckTiers(cluster); !status.ok()) return status;
  if (!cluster.calibration_file().empty() && cluster.has_calibration()) {
    return Expected("calibration_file", "it or calibration", "both");
  }
  return cluster.has_calibration() ? CheckCalibration(cluster) : absl::OkStatus();
}

int64_t PlanBytesOf(const Cluster& cluster) {
  return std::max<int64_t>(0, cluster.device().memory_bytes() - cluster.calibration().reserve_bytes());
}

std::optional<int> FullTier(const Cluster& cluster, const Stage& stage) {
  for (int t = 0; t < stage.tier_bytes_size(); ++t) {
    const int64_t limit = cluster.tier(t).memory_bytes();
    if (limit > 0 && stage.tier_bytes(t) > limit) return t;
  }
  return std::nullopt;
}

Machine MachineOf(const Cluster& cluster) {
  const Machine defaults;
  const DeviceKind* kind = FindDeviceKind(cluster.device().kind());
  Machine machine;
  machine.device = cluster.device().kind();
  machine.node_ranks = cluster.node().ranks();
  machine.messages = kind != nullptr && kind->host && cluster.node().count() > 1;
  machine.node_cores = cluster.node().cores();
  machine.contraction_flops = cluster.device().contraction_flops();
  machine.other_flops = cluster.device().other_flops();
  machine.memory_bytes_s = cluster.device().memory_bytes_s();
  machine.launch_s = cluster.device().launch_s();
  machine.graph_launch_s = cluster.device().graph_launch_s();
  machine.node = {cluster.node().link_bytes_s(), cluster.node().latency_s()};
  machine.network = {cluster.network().link_bytes_s(), cluster.network().latency_s()};
  for (const Tier& tier : cluster.tier()) {
    machine.tiers.push_back(
        {tier.name(), tier.read_bytes_s(), tier.write_bytes_s(), tier.latency_s(), tier.update_bytes_s()});
  }
  if (kind != nullptr && kind->host) {
    Fill(defaults.contraction_flops, &machine.contraction_flops);
    Fill(defaults.other_flops, &machine.other_flops);
    Fill(defaults.memory_bytes_s, &machine.memory_bytes_s);
    Fill(defaults.launch_s, &machine.launch_s);
    Fill(defaults.node.bytes_s, &machine.node.bytes_s);
    Fill(defaults.node.latency_s, &machine.node.latency_s);
    Fill(defaults.network.bytes_s, &machine.network.bytes_s);
    Fill(defaults.network.latency_s, &machine.network.latency_s);
  }
  const Calibration& calibration = cluster.calibration();
  if (absl::StatusOr<RateTables> tables = TablesOf(calibration); tables.ok() && !tables->empty()) {
    machine.tables = std::make_shared<const RateTables>(*std::move(tables));
  }
  const Far& far = calibration.far();
  if (absl::StatusOr<RateTables> tables = TablesOf(far); tables.ok() && !tables->empty()) {
    machine.far_tables = std::make_shared<const RateTables>(*std::move(tables));
    machine.near_bytes = far.near_bytes();
    machine.far_bytes = far.bytes();
  }
  machine.product_slowdown = std::max(1.0, calibration.overlap().product_slowdown());
  machine.collective_slowdown = std::max(1.0, calibration.overlap().collective_slowdown());
  machine.step_s = calibration.step_s();
  if (const weft::Nccl& it = calibration.nccl(); calibration.has_nccl() && it.ll_bytes_s_size() == 3) {
    machine.nccl = Nccl{
        it.nvlink(), it.nvls_efficiency(), it.net_overhead_s(), {it.ll_bytes_s(0), it.ll_bytes_s(1), it.ll_bytes_s(2)}};
  }
  // A single node has no network to be asked for.
  Fill(machine.node.bytes_s, &machine.network.bytes_s);
  return machine;
}

void ResolveCluster(Cluster* cluster) {
  const Machine machine = MachineOf(*cluster);
  Device& device = *cluster->mutable_device();
  device.set_contraction_flops(machine.contraction_flops);
  device.set_other_flops(machine.other_flops);
  device.set_memory_bytes_s(machine.memory_bytes_s);
  device.set_launch_s(machine.launch_s);
  cluster->mutable_node()->set_link_bytes_s(machine.node.bytes_s);
  cluster->mutable_node()->set_latency_s(machine.node.latency_s);
  cluster->mutable_network()->set_link_bytes_s(machine.network.bytes_s);
  cluster->mutable_network()->set_latency_s(machine.network.latency_s);
}

}  // namespace weft::plan
