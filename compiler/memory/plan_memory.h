// The memory of a plan: how many slots its buffers have, and where they lie.
#ifndef WEFT_COMPILER_MEMORY_PLAN_MEMORY_H_
#define WEFT_COMPILER_MEMORY_PLAN_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

struct MemoryOptions {
  // Bytes of a device's memory: an arena that leaves half of it free is not made smaller by search. 0: not known.
  int64_t device_bytes = 0;
  // Where chance begins. The compiler has the default; tests have others.
  uint32_t seed = 0;
  // Not 0: the question is only which stages fit so many bytes. The search ends with the first offsets that do, and is
  // short: what fits by a few per cent may be found too large. A stage of a higher lower bound gets no offsets, and
  // that bound as its arena.
  int64_t limit_bytes = 0;
};

// Sets the slots, the offsets and the arena of every stage, and the lower bound of its memory
// (runtime/measure/memory.h), of a plan that is complete but for these: buffers have the slots that the schedule needs.
// What the offsets rest on is the order in which the verifier proves acts to come (runtime/semantics), of whatever
// executions there are. kFailedPrecondition: the plan is blocked.
absl::Status PlanMemory(const MemoryOptions& options, plan::Plan* plan);

}  // namespace weft::compiler

#endif  // WEFT_COMPILER_MEMORY_PLAN_MEMORY_H_
