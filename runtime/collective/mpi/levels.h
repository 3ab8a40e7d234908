// Collectives on two levels: within a host, and between hosts.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_LEVELS_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_LEVELS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/collective/spec.h"

namespace weft::collective {

// Members that follow each other are on one host, so many on each; a group has twice as many at least.
struct Levels {
  int on_host = 1;
  // In how many parts sums travel, each while the next is put together.
  int64_t parts = 1;
};

// Levels::parts for a bundle among `members`, `on_host` on each host; 0: directly. The same answer on all of them.
using PartsBetweenHosts = std::function<int64_t(const std::vector<CollectiveSpec>& bundle, int members, int on_host)>;

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_LEVELS_H_
