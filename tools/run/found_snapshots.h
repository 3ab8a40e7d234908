// The snapshots in the memory of hosts that a run may go on from.
#ifndef WEFT_TOOLS_RUN_FOUND_SNAPSHOTS_H_
#define WEFT_TOOLS_RUN_FOUND_SNAPSHOTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run/record.h"
#include "tools/run/snapshot_choice.h"
#include "tools/run/train.h"

namespace weft::run {

struct FoundSnapshots {
  // The folders that the folder of checkpoints names, the newest first.
  std::vector<std::string> folders;

  // A set that is whole, every byte of it as it was written.
  struct Whole {
    SnapshotSet set;
    std::string folder;                  // on each host
    std::vector<int64_t> bytes_of_rank;  // of each rank's file
    uint64_t seed = 0;
    Record record;
    std::string hosts;  // that have it, for people: "host a", "hosts a and b"
  };
  std::optional<Whole> newest;  // null: there is none

  // Why the newest step of which there is a snapshot is not gone on from, and which it is: "snapshot of step 120: rank
  // 3's is neither on host b nor on its neighbour c". "" if it is, or there is none.
  std::string refused;
  int64_t refused_step = -1;
};

// What the hosts of this run have of a run with the same --checkpoint-dir; `tell` gets a line, on all processes, of
// each file that is damaged or foreign. Of a set that is whole the other steps are removed. All processes come, and get
// the same.
absl::StatusOr<FoundSnapshots> FindSnapshots(const Context& context,
                                             const std::function<void(const std::string&)>& tell);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_FOUND_SNAPSHOTS_H_
