// The cost model: the seconds that kernels, collectives and transfers take. The
// compiler chooses by it, the simulator adds it up. Numbers in, numbers out;
// any thread.
#ifndef WEFT_RUNTIME_PLAN_COST_H_
#define WEFT_RUNTIME_PLAN_COST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/collective_kind.h"
#include "runtime/plan/nccl.h"
#include "runtime/plan/rates.h"

namespace weft::plan {

struct Link {
  double bytes_s = 0;    // that a rank sends
  double latency_s = 0;  // of a message, or of a collective within a node
};

// What a rank keeps below its device.
struct TierRates {
  std::string name;
  double read_bytes_s = 0, write_bytes_s = 0;  // to the device, and from it
  double latency_s = 0;                        // of a tensor
  double update_bytes_s = 0;                   // that the host's kernels read and write there; 0: none run there
};

// One rank, and what joins it to others. The defaults are one core of a current
// x86 server, ranks that share its memory, and 10 Gbit/s between nodes.
struct Machine {
  std::string device = "cpu";
  double contraction_flops = 100e9;  // FLOP/s of matrix products
  double other_flops = 4e9;          // FLOP/s of everything else
  double memory_bytes_s = 10e9;      // of a rank's memory
  double launch_s = 1e-6;            // to begin a kernel
  double graph_launch_s = 0;         // to begin one of a graph that is replayed; 0: launch_s
  Link node = {3e9, 10e-6};          // to ranks of the same node
  Link network = {1.25e9, 50e-6};    // to ranks of other nodes
  std::vector<TierRates> tiers;      // as the cluster has them
  int64_t node_ranks = 64;           // rank r is on node r / node_ranks
  bool messages = false;             // between nodes collectives are messages of MPI, see HostExchangeOf(); else rings
  double node_cores = 0;             // that a node's ranks share, see ShareOfCore(); 0: each has its own
  // What was measured; it goes before the rates above. Null: nothing.
  std::shared_ptr<const RateTables> tables;
  // The same of kernels whose operands are far, out of the caches; what it lacks is as `tables` have it. Null: nothing.
  std::shared_ptr<const RateTables> far_tables;
  // Memory that a rank goes through between two uses of its bytes, for which tables and far_tables hold.
  double near_bytes = 0, far_bytes = 0;
  double step_bytes = 0;           // that this rank goes through in a step; 0, it is not known: near
  std::optional<Nccl> nccl;        // whose model collectives follow where tables have none
  double product_slowdown = 1;     // times as long as alone, what computes while the rank's collective runs
  double collective_slowdown = 1;  // and the collective meanwhile
  double step_s = 0;               // that a step takes besides its acts
};

// The family of generated kernels that several operators are.
inline constexpr char kGeneratedFamily[] = "generated";

// What one run of a kernel does on one rank.
struct KernelWork {
  double contraction_flops = 0;  // of matrix products, 2 a multiply-add
  double flops = 0;              // of everything else
  double bytes = 0;              // read and written, each tensor once
  Product product;               // what most of contraction_flops is, if it is known
  std::string family;            // the kernel's name, or kGeneratedFamily
  std::string type = {};         // of its elements: the narrowest of floating-point tensors; empty: there are none
};

// How a group of ranks lies on the nodes.
struct Spread {
  int64_t ranks = 1;
  int64_t on_a_node = 1;  // the fewest that any of its nodes has; all if there is one node
  bool one_node() const { return on_a_node == ranks; }
  int64_t nodes() const { return (ranks + on_a_node - 1) / on_a_node; }
};

// A group on one node.
inline Spread Together(int64_t ranks) { return {ranks, ranks}; }

// Of the group of these ranks; not empty.
Spread SpreadOf(const Machine& machine, const std::vector<int64_t>& ranks);

// Of the groups along `axes` of a mesh of `sizes` whose ranks count up from 0,
// row-major.
Spread SpreadOf(const Machine& machine, const std::vector<int64_t>& sizes, const std::vector<int>& axes);

// The slower of computing and of moving bytes (the roofline of Williams,
// Waterman and Patterson, 2009), after the launch. Where tables have the
// product's element type, its shape says its rate; where they have the family,
// the bytes that a kernel moves say how fast, and what it computes besides
// products is part of that. By tables a kernel of parts takes as long as these do.
// Between what is near and what is far its seconds are linear in the logarithms
// of them and of `step_bytes`.
double KernelSeconds(const Machine& machine, const KernelWork& work);

// To begin a kernel of a step: most are replayed where something can be.
inline double LaunchSeconds(const Machine& machine) {
  return machine.graph_launch_s > 0 ? machine.graph_launch_s : machine.launch_s;
}

// The speed of each of `acts` that compute, or move bytes, side by side on one
// node: 1 as long as each has a core, then an equal share. The rates are those of
// a rank alone, and `node_cores` is how many such ranks a node is worth: less
// than its cores where these share caches, memory or, as hardware threads do,
// their arithmetic.
double ShareOfCore(const Machine& machine, int64_t acts);

// Bytes that each rank of a group of n sends for a tensor of `bytes`: the tensor
// before a reduction or after a gathering, on one rank; of an all-to-all n times
// a rank's part. Ring algorithms: an all-reduce sends 2 (n-1)/n of them, gather
// and scatter (n-1)/n, all-to-all (n-1)/n^2 (Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", 2005).
double SentBytes(CollectiveKind kind, double bytes, int64_t n);

// Within a node: these over the node's link, after its latency. Between nodes:
//
//   tables       where they have the kind and the group; a group with more ranks on one node than on another is none
//                that they have
//   `nccl`       NcclSeconds(), where it has the kind
//   `messages`   HostExchangeOf(); of a shift and a zigzag one message over the network
//   else         rings, as many side by side as the group has ranks on a node, each through the network of another
//                rank: of the bytes that a rank sends, one in `on_a_node` leaves the node. The latency is that of
//                ceil(log2 nodes) messages, as in a tree. An all-to-all has no rings: all but (on_a_node - 1)/(n - 1)
//                of its bytes leave.
double CollectiveSeconds(const Machine& machine, CollectiveKind kind, double bytes, const Spread& group);

// A kind, and the bytes of a tensor as of SentBytes(), of each collective of a bundle, which meets once.
using BundledBytes = std::vector<std::pair<CollectiveKind, double>>;

// The sum of its collectives, with the latency of the first alone; by HostExchangeOf() that of all.
double BundleSeconds(const Machine& machine, const BundledBytes& bundle, const Spread& group);

// Of that name; null: the machine has none.
const TierRates* FindTier(const Machine& machine, const std::string& name);

// To fetch a tensor of `bytes` from a tier, or to store it there.
double TierSeconds(const TierRates& tier, double bytes, bool fetches);
// Of a kernel of the host on what lies there; `bytes` it reads and writes.
double UpdateSeconds(const TierRates& tier, double bytes);

// Point to point: `bytes` that one rank sends, or receives, on one node or
// across.
double TransferSeconds(const Machine& machine, double bytes, bool one_node);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_COST_H_
