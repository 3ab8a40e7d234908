#include "runtime/plan/cost.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/plan/host_exchange.h"

namespace weft::plan {
namespace {

const Link& LinkOf(const Machine& machine, bool one_node) { return one_node ? machine.node : machine.network; }

// What a rank sends a second at most when the group's rings run.
double RingBytes(const Machine& machine, const Spread& group) {
  if (group.one_node()) return machine.node.bytes_s;
  const double link = machine.nccl.has_value() ? NcclNetworkBytes(machine.network.bytes_s) : machine.network.bytes_s;
  const double across = link * static_cast<double>(group.on_a_node);
  return group.on_a_node == 1 ? across : std::min(machine.node.bytes_s, across);
}

// The tables that say what a kernel takes, what goes before the other first; null: none.
struct Tables {
  const RateTables* first = nullptr;
  const RateTables* second = nullptr;

  bool empty() const { return first == nullptr && second == nullptr; }

  double FlopsOf(const Product& product) const {
    const double flops = first != nullptr ? first->FlopsOf(product) : 0;
    return flops > 0 || second == nullptr ? flops : second->FlopsOf(product);
  }

  bool SpeedOf(const KernelWork& work, KernelSpeed* speed) const {
    const auto has = [&](const RateTables* tables) {
      return tables != nullptr && tables->SpeedOf(work.family, work.type, work.bytes, speed);
    };
    return has(first) || has(second);
  }
};

// After the launch.
double WorkSeconds(const Machine& machine, const Tables& tables, const KernelWork& work) {
  double contraction_flops = machine.contraction_flops;
  const double own = tables.FlopsOf(work.product);
  if (own > 0) contraction_flops = own;
  const bool shape_says = own > 0 && !work.product.within.empty();
  if (KernelSpeed speed; !shape_says && tables.SpeedOf(work, &speed)) {
    if (speed.flops_s > 0) contraction_flops = speed.flops_s;
    return std::max(work.contraction_flops / contraction_flops, work.bytes / speed.bytes_s);
  }
  const double compute = work.contraction_flops / contraction_flops + work.flops / machine.other_flops;
  return std::max(compute, work.bytes / machine.memory_bytes_s);
}

// By tables, or by NCCL's model; below 0: neither has it.
double KnownSeconds(const Machine& machine, CollectiveKind kind, double bytes, const Spread& group) {
  if (machine.tables != nullptr && group.ranks % group.on_a_node == 0) {
    const double seconds = machine.tables->SecondsOf(kind, group.on_a_node, group.nodes(), bytes);
    if (seconds >= 0) return seconds;
  }
  if (!machine.nccl.has_value()) return -1;
  return NcclSeconds(*machine.nccl, kind, bytes, group.ranks, group.nodes(), machine.node.bytes_s,
                     RingBytes(machine, group));
}

}  // namespace

Spread SpreadOf(const Machine& machine, const std::vector<int64_t>& ranks) {
  std::map<int64_t, int64_t> nodes;
  for (int64_t rank : ranks) ++nodes[rank / machine.node_ranks];
  Spread spread{static_cast<int64_t>(ranks.size()), static_cast<int64_t>(ranks.size())};
  for (const auto& [node, count] : nodes) spread.on_a_node = std::min(spread.on_a_node, count);
  return spread;
}

Spread SpreadOf(const Machine& machine, const std::vector<int64_t>& sizes, const std::vector<int>& axes) {
  std::vector<int64_t> ranks = {0};
  int64_t stride = 1;
  for (int axis = static_cast<int>(sizes.size()) - 1; axis >= 0; --axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      const size_t before = ranks.size();
      for (int64_t i = 1; i < sizes[axis]; ++i) {
        for (size_t r = 0; r < before; ++r) ranks.push_back(ranks[r] + i * stride);
      }
    }
    stride *= sizes[axis];
  }
  return SpreadOf(machine, ranks);
}

double KernelSeconds(const Machine& machine, const KernelWork& work) {
  const RateTables* tables = machine.tables.get();
  const double near = WorkSeconds(machine, {tables}, work), launch = LaunchSeconds(machine);
  if (machine.far_tables == nullptr || machine.step_bytes <= machine.near_bytes || near <= 0) return launch + near;
  const double far = WorkSeconds(machine, {machine.far_tables.get(), tables}, work);
  const double part =
      std::log(machine.step_bytes / machine.near_bytes) / std::log(machine.far_bytes / machine.near_bytes);
  return launch + near * std::pow(far / near, std::min(1.0, part));
}

double ShareOfCore(const Machine& machine, int64_t acts) {
  if (machine.node_cores <= 0 || acts < 1) return 1;
  return std::min(1.0, machine.node_cores / static_cast<double>(acts));
}

double SentBytes(CollectiveKind kind, double bytes, int64_t n) {
  const double share = static_cast<double>(n - 1) / static_cast<double>(n);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * bytes * share;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
      return bytes * share;
    case CollectiveKind::kAllToAll:
      return bytes * share / static_cast<double>(n);
    case CollectiveKind::kShift:
      return n > 1 ? bytes : 0;
    case CollectiveKind::kZigzag:
      return n > 1 ? bytes / 2 : 0;
  }
  return 0;
}

double CollectiveSeconds(const Machine& machine, CollectiveKind kind, double bytes, const Spread& group) {
  if (group.ranks < 2) return 0;
  if (const double seconds = KnownSeconds(machine, kind, bytes, group); seconds >= 0) return seconds;
  if (FactsOf(kind).moves()) return TransferSeconds(machine, SentBytes(kind, bytes, group.ranks), group.one_node());
  if (machine.messages && !group.one_node()) return HostExchangeOf(machine, {{kind, bytes}}, group).seconds;
  const double rounds = std::ceil(std::log2(static_cast<double>(group.nodes())));
  const double latency = machine.node.latency_s + rounds * machine.network.latency_s;
  const double sent = SentBytes(kind, bytes, group.ranks);
  if (kind != CollectiveKind::kAllToAll || group.one_node()) return latency + sent / RingBytes(machine, group);
  const double inside = static_cast<double>(group.on_a_node - 1) / static_cast<double>(group.ranks - 1);
  return latency + std::max(sent * inside / machine.node.bytes_s, sent * (1 - inside) / machine.network.bytes_s);
}

double BundleSeconds(const Machine& machine, const BundledBytes& bundle, const Spread& group) {
  if (group.ranks < 2 || bundle.empty()) return 0;
  const auto is_known = [&](const auto& each) { return KnownSeconds(machine, each.first, each.second, group) >= 0; };
  if (bundle.size() > 1 && machine.messages && !group.one_node() &&
      std::none_of(bundle.begin(), bundle.end(), is_known)) {
    return HostExchangeOf(machine, bundle, group).seconds;
  }
  double seconds = 0;
  for (const auto& [kind, bytes] : bundle) seconds += CollectiveSeconds(machine, kind, bytes, group);
  return seconds - static_cast<double>(bundle.size() - 1) * CollectiveSeconds(machine, bundle[0].first, 0, group);
}

const TierRates* FindTier(const Machine& machine, const std::string& name) {
  const auto it = std::find_if(machine.tiers.begin(), machine.tiers.end(),
                               [&](const TierRates& tier) { return tier.name == name; });
  return it == machine.tiers.end() ? nullptr : &*it;
}

double TierSeconds(const TierRates& tier, double bytes, bool fetches) {
  return tier.latency_s + bytes / (fetches ? tier.read_bytes_s : tier.write_bytes_s);
}

double UpdateSeconds(const TierRates& tier, double bytes) {
  return tier.update_bytes_s > 0 ? bytes / tier.update_bytes_s : 0;
}

double TransferSeconds(const Machine& machine, double bytes, bool one_node) {
  const Link& link = LinkOf(machine, one_node);
  return link.latency_s + bytes / link.bytes_s;
}

}  // namespace weft::plan
