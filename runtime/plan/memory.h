// How much memory a plan's schedule needs, whatever the offsets: what a planner
// of offsets is measured against.
#ifndef WEFT_RUNTIME_PLAN_MEMORY_H_
#define WEFT_RUNTIME_PLAN_MEMORY_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/program.h"

namespace weft::plan {

// Indexed by Buffer::Kind.
using BytesByKind = std::array<int64_t, Buffer::Kind_ARRAYSIZE>;

// The memory of each rank of a stage, in padded bytes. Aliases count as the
// buffer whose bytes they are.
struct StageMemory {
  // As the plan says: what a rank allocates.
  int64_t arena_bytes = 0;
  // Most bytes that hold something still needed, at one moment of an execution
  // that the plan permits: no offsets can do with less. State counts always,
  // another buffer from the kernel that first writes it to the last one that
  // reads those contents.
  int64_t lower_bound_bytes = 0;
  // The parts of lower_bound_bytes.
  BytesByKind at_peak = {};
  // All slots of all buffers of a kind, as if nothing shared bytes.
  BytesByKind total = {};
  std::array<int, Buffer::Kind_ARRAYSIZE> buffers = {};
  // The moment: before the first act if actor is -1.
  int32_t peak_actor = -1;
  int64_t peak_micro_batch = 0;
  int32_t peak_work = 0;
};

// The memory of every stage, the most over two executions: in one the first
// streams run ahead, in the other the last ones. Looks at no offset of a buffer that has no alias,
// and at offsets of others only in relation, so that a compiler may call it
// before it lays out the arena. kFailedPrecondition: the plan is blocked.
absl::StatusOr<std::vector<StageMemory>> MeasureMemory(const Plan& plan);

// The buffers of a stage that take most bytes, all slots together, at most
// `count`, largest first. No aliases.
std::vector<int32_t> LargestOf(const Program& program, int count);

// "`h.0.mlp.y` f32[8,64] of [16,64] 2.00 KiB (activation), ...": these in one line.
std::string LargestText(const Program& program, int count);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_MEMORY_H_
