// What the processes of a run have in memory, beside what was planned.
#ifndef WEFT_TOOLS_RUN_MEMORY_H_
#define WEFT_TOOLS_RUN_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run/train.h"

namespace weft::run {

// Most bytes that were resident in this process at a time.
int64_t PeakResidentBytes();

// The memory of this host; 0 or less: not known.
int64_t HostBytes();

// What loading and running a plan adds to this process: made before it is loaded.
class Growth {
 public:
  Growth();
  // The most so far.
  int64_t bytes() const;

 private:
  int64_t before_ = 0;
};

// Of one rank, in bytes.
struct RankMemory {
  int64_t arena = 0;
  int64_t staging = 0;     // of messages, beside the arena
  int64_t workspaces = 0;  // of kernels of a GPU, beside the arena
  int64_t copy = 0;        // of the state, for checkpoints that are written aside, beside the arena
  int64_t snapshots = 0;   // of the host's memory, for snapshots of this rank and of others
  int64_t measured = 0;    // that its process has grown by
};

// That of every rank, by rank. All processes come.
absl::StatusOr<std::vector<RankMemory>> GatherMemory(Processes& processes, const RankMemory& own);

// Of what is beside the arena: ", and 12 MiB for messages and 256 MiB for kernels beside it"; empty if there is
// nothing.
std::string TextBeside(const RankMemory& memory);

// kResourceExhausted if the arena of a rank and what is beside it are more than a device
// of the plan's cluster has.
absl::Status CheckMemory(const plan::Plan& plan, const RankMemory& own);

// A line a stage: "stage 0: 228 MiB planned a rank, 226 MiB (rank 0) to 231 MiB (rank 1) measured".
std::string TextOfMemory(const plan::Plan& plan, const std::vector<RankMemory>& ranks);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_MEMORY_H_
