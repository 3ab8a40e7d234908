// What ranks of a process take of its host's memory, held against what there is before anything is taken.
#ifndef WEFT_RUNTIME_EXECUTOR_HOST_MEMORY_H_
#define WEFT_RUNTIME_EXECUTOR_HOST_MEMORY_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace weft::executor {

// What a rank takes, in bytes: an arena, and of each tier of the cluster.
struct RankBytes {
  int64_t arena = 0;
  std::vector<int64_t> tiers;
};

// With room for `guest`, a plan of the same ranks that takes turns with `plan` in the same memory; null: there is none.
RankBytes BytesOfRank(const plan::Plan& plan, const plan::Plan* guest, int rank);

// Of the host's memory, by all of some ranks.
struct HostMemory {
  int ranks = 0;
  int64_t arenas = 0;
  std::vector<std::pair<std::string, int64_t>> tiers;  // by name, those of kind HOST of which something is taken
};

// `arenas`: whether they are in the host's memory.
HostMemory HostMemoryOf(const plan::Plan& plan, const plan::Plan* guest, const std::vector<int>& ranks, bool arenas);

// kResourceExhausted if it is more than `available`; -1: not known, then there is always enough.
absl::Status CheckHostMemory(const HostMemory& memory, int64_t available);

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_HOST_MEMORY_H_
