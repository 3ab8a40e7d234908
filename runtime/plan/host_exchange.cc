#include "runtime/plan/host_exchange.h"

#include <algorithm>
#include <cmath>

namespace weft::plan {
namespace {

// The fewest bytes of a part: about what a message of its own costs.
constexpr double kLeastPart = 4096;

// Bytes of the kinds that two levels do in another way.
struct Bytes {
  double all_reduce = 0, reduce_scatter = 0, all_gather = 0;
};

HostExchange OnTwoLevels(const Machine& machine, const Bytes& bytes, double other_s, double n, double g) {
  const double hosts = n / g;
  const Link &node = machine.node, &network = machine.network;
  const double inside = (2 * bytes.all_reduce + bytes.reduce_scatter + bytes.all_gather) * (g - 1) / g;
  HostExchange result{.parts = 1, .seconds = other_s + 2 * node.latency_s + inside / node.bytes_s};
  if (bytes.all_gather > 0) {
    result.seconds += network.latency_s + bytes.all_gather * (hosts - 1) / n / network.bytes_s;
  }
  const double sums = ((hosts > 2 ? 2 : 1) * bytes.all_reduce + bytes.reduce_scatter) / g;
  if (sums <= 0) return result;
  // Messages before the last host has its first part, and behind its last one.
  const double more = bytes.all_reduce > 0 ? 2 * hosts - 3 : hosts - 1;
  const double most = std::max(1.0, sums / kLeastPart);
  const double link_s = sums / network.bytes_s;
  double parts = network.latency_s > 0 ? std::sqrt(more * link_s / network.latency_s) : most;
  parts = std::floor(std::clamp(parts, 1.0, most));
  // Each host's of a reduce_scatter travel by themselves.
  if (bytes.all_reduce == 0) parts = std::ceil(parts / hosts) * hosts;
  result.parts = static_cast<int64_t>(parts);
  result.seconds += (parts + more) * (network.latency_s + link_s / parts);
  return result;
}

}  // namespace

double DirectSeconds(const Machine& machine, const BundledBytes& bundle, const Spread& group) {
  const double n = static_cast<double>(group.ranks), g = static_cast<double>(group.on_a_node);
  double inside = 0, outside = 0;
  bool twice = false;
  for (const auto& [kind, bytes] : bundle) {
    const double sent = SentBytes(kind, bytes, group.ranks);
    // Of what goes to one other member, somebody's leaves the node whole.
    const double near = FactsOf(kind).moves() ? 0 : (g - 1) / (n - 1);
    inside += sent * near;
    outside += sent * (1 - near);
    twice |= kind == CollectiveKind::kAllReduce;
  }
  return machine.node.latency_s + (twice ? 2 : 1) * machine.network.latency_s +
         std::max(inside / machine.node.bytes_s, outside / machine.network.bytes_s);
}

HostExchange HostExchangeOf(const Machine& machine, const BundledBytes& bundle, const Spread& group) {
  const double n = static_cast<double>(group.ranks), g = static_cast<double>(group.on_a_node);
  const HostExchange directly{.parts = 0, .seconds = DirectSeconds(machine, bundle, group)};
  if (group.one_node() || group.on_a_node < 2 || group.ranks % group.on_a_node != 0) return directly;
  Bytes bytes;
  BundledBytes others;
  for (const auto& [kind, size] : bundle) {
    if (kind == CollectiveKind::kAllReduce) {
      bytes.all_reduce += size;
    } else if (kind == CollectiveKind::kReduceScatter) {
      bytes.reduce_scatter += size;
    } else if (kind == CollectiveKind::kAllGather) {
      bytes.all_gather += size;
    } else {
      others.emplace_back(kind, size);
    }
  }
  if (others.size() == bundle.size()) return directly;
  const double other_s = others.empty() ? 0 : DirectSeconds(machine, others, group);
  const HostExchange levels = OnTwoLevels(machine, bytes, other_s, n, g);
  return levels.seconds < directly.seconds ? levels : directly;
}

}  // namespace weft::plan
