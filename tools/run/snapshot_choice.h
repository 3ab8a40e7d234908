// Which hosts keep whose snapshots, and which of those that are there a run goes on from.
#ifndef WEFT_TOOLS_RUN_SNAPSHOT_CHOICE_H_
#define WEFT_TOOLS_RUN_SNAPSHOT_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/collective/mpi/host_ring.h"

namespace weft::run {

// The rank of the next host that keeps a rank's snapshots too, and those of the host before whose snapshots it keeps.
struct SnapshotNeighbours {
  int to = -1;  // none: all ranks are on one host
  std::vector<int> from;

  static SnapshotNeighbours Of(const collective::HostRing& hosts, int rank);
};

// A snapshot that a host has.
struct HeldSnapshot {
  int run = 0;  // among the runs that may be gone on from: the newest first
  int64_t step = 0;
  int rank = 0;
  int host = 0;
};

// The snapshots of one step of a run: of each rank the host that has it; -1: none has.
struct SnapshotSet {
  int run = 0;
  int64_t step = 0;
  std::vector<int> host_of_rank;

  // The lowest rank whose snapshot no host has; -1: it is whole.
  int Lacks() const;
};

// One for each step and run of which there is a snapshot, the newest first. `own_host`: of each rank the host that it
// is on now, which has its snapshot if any; else the lowest has it.
std::vector<SnapshotSet> SnapshotSetsOf(const std::vector<HeldSnapshot>& held, const std::vector<int>& own_host);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SNAPSHOT_CHOICE_H_
