// Collectives as NCCL expects them to take: its own model, by which it chooses algorithms.
#ifndef WEFT_RUNTIME_PLAN_NCCL_H_
#define WEFT_RUNTIME_PLAN_NCCL_H_

#include <array>
#include <cstdint>

#include "runtime/plan/collective_kind.h"

namespace weft::plan {

// What the model asks about the machines; see `Nccl` in cluster.proto.
struct Nccl {
  bool nvlink = false;
  double nvls_efficiency = 0;
  double net_overhead_s = 0;
  std::array<double, 3> ll_bytes_s = {};  // on one node, on two, on more
};

// Seconds of a collective of `ranks` on `nodes`, by the fastest of rings, double binary trees and NVLS (trees of them
// between nodes) with the protocols LL, LL128 and Simple. `ring_bytes_s` is what a rank sends when rings run, on its
// node `node_bytes_s`; `bytes` as of SentBytes(). Latencies and factors are those of NCCL 2.29, src/graph/tuning.cc,
// without its corrections of trees by size, caps by channel, CollNet (which is off by default) and PAT (which is for a
// rank a node). -1 for all_to_all, shift and zigzag, which NCCL has no model of.
double NcclSeconds(const Nccl& nccl, CollectiveKind kind, double bytes, int64_t ranks, int64_t nodes,
                   double node_bytes_s, double ring_bytes_s);

// What its rings send a second over one link of a network, which could send `link_bytes_s`: the highest rate that its
// search of graphs tries and the link has, of those that it tries on every architecture (NCCL 2.29,
// src/graph/search.cc); of a faster link than all of these as many of the highest as fit. Example: 24 GB/s of 25, 48
// of 50.
double NcclNetworkBytes(double link_bytes_s);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_NCCL_H_
