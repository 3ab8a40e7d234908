// Collectives of ranks that are processes on several hosts, as runtime/collective/mpi does them.
#ifndef WEFT_RUNTIME_PLAN_HOST_EXCHANGE_H_
#define WEFT_RUNTIME_PLAN_HOST_EXCHANGE_H_

#include <cstdint>

#include "runtime/plan/cost.h"

namespace weft::plan {

struct HostExchange {
  // In how many parts sums travel from host to host, of members that put their terms together first; 0: each member
  // sends each other one what is its due.
  int64_t parts = 0;
  double seconds = 0;
};

// What it takes if each member sends each other one what is its due; see below.
double DirectSeconds(const Machine& machine, const BundledBytes& bundle, const Spread& group);

// The faster way of a bundle among a group on several nodes, by the machine's links alone. On two levels at least two
// members are on each node, as many on each.
//
// Of T bytes among n ranks, g on each of H nodes, a rank sends through the network
//
//   kind             directly             on two levels
//   all_reduce       2 T (n - g) / n      2 T / g, of two nodes T / g;  C + 2 H - 3 messages, one after another
//   reduce_scatter   T (n - g) / n        T / g;                        C + H - 1
//   all_gather       T (n - g) / n        T (H - 1) / n;                1
//   all_to_all       T (n - g) / n^2      the same
//
// and within its node T (g - 1) / n, twice of an all_reduce, or T (g - 1) / g: directly at the same time, on two levels
// before and after. C, the parts, is where more of them cost as much latency as they save of waiting for the first one
// to arrive. Not counted: that sums of bf16 and f16 travel in f32, the arithmetic, and what it takes to begin a
// message.
HostExchange HostExchangeOf(const Machine& machine, const BundledBytes& bundle, const Spread& group);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_HOST_EXCHANGE_H_
