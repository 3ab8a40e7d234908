// The hosts of a run, and what their processes tell each other of them.
#ifndef WEFT_TOOLS_RUN_HOSTS_OF_RUN_H_
#define WEFT_TOOLS_RUN_HOSTS_OF_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/collective/mpi/host_ring.h"
#include "tools/run/processes.h"

namespace weft::run {

// Where the processes of a run are.
struct HostsOfRun {
  std::vector<std::string> keys;  // of each process
  collective::HostRing ring;      // of the processes
  int own = 0;                    // this process's host

  static HostsOfRun Of(const Processes& processes);
  // As people call it.
  std::string NameOf(int process) const;
  // Whether this process is the lowest on its host, and does what is done once there.
  bool IsFirstOnHost(const Processes& processes) const { return ring.RanksOf(own)[0] == processes.rank(); }
  // Of the processes of a host the one that reads there what is of a rank.
  int ReaderOf(int host, int rank) const;
  // The host that a rank of the plan is on.
  int HostOfRank(int rank) const { return keys.size() == 1 ? 0 : ring.HostOf(rank); }
};

// What all processes say, by process. A mark takes the place of what is not UTF-8. All processes come.
absl::StatusOr<std::vector<nlohmann::json>> GatherJson(Processes& processes, const nlohmann::json& own);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_HOSTS_OF_RUN_H_
