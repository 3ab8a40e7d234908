#include "runtime/plan/nccl.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weft::plan {
namespace {

enum Protocol { kLl, kLl128, kSimple };
constexpr int kProtocols = 3;

// Seconds by protocol.
using Latencies = double[kProtocols];
constexpr Latencies kTreeBase = {6.8e-6, 14e-6, 8.4e-6}, kRingBase = {6.6e-6, 14e-6, 8.4e-6};
constexpr Latencies kTreeNvlink = {0.6e-6, 1.25e-6, 4e-6}, kRingNvlink = {0.6e-6, 1.9e-6, 3.4e-6};
constexpr Latencies kTreePci = {1e-6, 1.9e-6, 4e-6}, kRingPci = {1e-6, 2.5e-6, 5.7e-6};
constexpr Latencies kTreeNet = {5e-6, 8.5e-6, 14e-6}, kRingNet = {2.7e-6, 4e-6, 14e-6};
constexpr double kNvls = 25e-6, kNvlsTreeNet = 20.9e-6;

// Bytes a second of a channel over the network, falling.
constexpr double kNetworkRates[] = {48e9, 30e9, 24e9, 20e9, 15e9, 12e9, 6e9, 3e9, 2.4e9, 1.2e9, 0.24e9, 0.12e9};

class Model {
 public:
  Model(const Nccl& nccl, CollectiveKind kind, double bytes, int64_t ranks, int64_t nodes, double node_bytes_s,
        double ring_bytes_s)
      : nccl_(nccl),
        all_reduce_(kind == CollectiveKind::kAllReduce),
        bytes_(bytes),
        ranks_(static_cast<double>(ranks)),
        nodes_(static_cast<double>(nodes)),
        node_bytes_s_(node_bytes_s),
        ring_bytes_s_(ring_bytes_s),
        rounds_(std::floor(std::log2(nodes_))) {}

  double Seconds() const {
    double best = HUGE_VAL;
    for (Protocol protocol : {kLl, kLl128, kSimple}) {
      if (protocol == kLl128 && !nccl_.nvlink) continue;
      best = std::min(best, Ring(protocol));
      if (all_reduce_) best = std::min(best, Tree(protocol));
    }
    if (nccl_.nvls_efficiency > 0 && (nodes_ == 1 || all_reduce_)) best = std::min(best, Nvls());
    return best;
  }

 private:
  double MostOfLl() const { return nccl_.ll_bytes_s[nodes_ == 1 ? 0 : nodes_ == 2 ? 1 : 2]; }
  // Messages that a rank of a ring sends one after another.
  double Steps(double members) const { return (all_reduce_ ? 2 : 1) * (members - 1); }

  double Ring(Protocol protocol) const {
    const double bus = protocol == kLl      ? std::min(MostOfLl(), ring_bytes_s_ / 2)
                       : protocol == kLl128 ? ring_bytes_s_ * 0.92
                                            : ring_bytes_s_;
    const double overhead = nodes_ == 1 ? 0 : nccl_.net_overhead_s * (protocol == kSimple ? 3 : 1);
    const double inside = std::max((nccl_.nvlink ? kRingNvlink : kRingPci)[protocol], overhead);
    const double across = (ranks_ == nodes_ ? kTreeNet : kRingNet)[protocol];
    const double far = nodes_ == 1 ? 0 : Steps(nodes_);
    double latency = kRingBase[protocol] + (Steps(ranks_) - far) * inside + far * across;
    return latency + bytes_ * Steps(ranks_) / ranks_ / bus;
  }

  // Half up, half down.
  double Tree(Protocol protocol) const {
    double bus = ring_bytes_s_ * 0.92;
    if (protocol == kLl) bus = std::min(bus / 3.8, MostOfLl());
    if (protocol == kLl128) bus *= nodes_ == 1 ? 7.0 / 9 : 120.0 / 128;
    const double inside = (nccl_.nvlink ? kTreeNvlink : kTreePci)[protocol];
    return kTreeBase[protocol] + 2 * ((std::floor(ranks_ / nodes_) - 1) * inside + rounds_ * kTreeNet[protocol]) +
           2 * bytes_ / bus;
  }

  // The switch reduces and multiplies; between nodes a tree of switches.
  double Nvls() const {
    const double inside = node_bytes_s_ * nccl_.nvls_efficiency;
    if (!all_reduce_) return kNvls + bytes_ / (inside * (ranks_ - 1) / ranks_);
    const double bus = nodes_ == 1 ? 2 * inside : std::min(2 * inside, ring_bytes_s_ * (nodes_ == 2 ? 2 : 1));
    return kNvls + 2 * rounds_ * kNvlsTreeNet + bytes_ * Steps(ranks_) / ranks_ / bus;
  }

  const Nccl& nccl_;
  const bool all_reduce_;
  const double bytes_, ranks_, nodes_, node_bytes_s_, ring_bytes_s_;
  const double rounds_;  // of a tree between nodes
};

}  // namespace

double NcclSeconds(const Nccl& nccl, CollectiveKind kind, double bytes, int64_t ranks, int64_t nodes,
                   double node_bytes_s, double ring_bytes_s) {
  if (kind == CollectiveKind::kAllToAll || FactsOf(kind).moves()) return -1;
  return Model(nccl, kind, bytes, ranks, nodes, node_bytes_s, ring_bytes_s).Seconds();
}

double NcclNetworkBytes(double link_bytes_s) {
  if (link_bytes_s >= kNetworkRates[0]) return std::floor(link_bytes_s / kNetworkRates[0]) * kNetworkRates[0];
  const auto* const rate = std::find_if(std::begin(kNetworkRates), std::end(kNetworkRates),
                                        [&](double bytes_s) { return bytes_s <= link_bytes_s; });
  return rate == std::end(kNetworkRates) ? link_bytes_s : *rate;
}

}  // namespace weft::plan
