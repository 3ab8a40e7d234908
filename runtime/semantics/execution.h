// One abstract execution of a step, without computing anything: acts fire as the runtime would fire them, and each
// carries the acts that are certain to have ended before it (happens-before), as a vector clock.
//
//   the plan's streams ─ Execute() ─▶ visit(act), visit(act), ...     in an order that the runtime could have had
//                                    └ a cycle of acts that wait      if the plan is blocked
//
// On it rest the proof that a plan cannot deadlock or race (runtime/proof), its memory (runtime/measure) and the
// offsets of its buffers (compiler/memory).
#ifndef WEFT_RUNTIME_SEMANTICS_EXECUTION_H_
#define WEFT_RUNTIME_SEMANTICS_EXECUTION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/program.h"

namespace weft::plan {

// One firing of an actor in the step.
struct Act {
  int stage = 0;
  int32_t actor = 0;
  int64_t micro_batch = 0;  // 0 for STEP actors
  int32_t stream = 0;       // counted over all stages
  int32_t position = 0;     // in its stream
  // A stream each: how many of its acts have ended before this act starts, in
  // every execution. This is the vector clock of Mattern and Fidge.
  absl::Span<const int32_t> before;

  // True if the act at `position` of `stream` has ended before this one starts.
  bool After(int32_t other_stream, int32_t other_position) const { return before[other_stream] > other_position; }
};

// Called for each act of the step, in an order that the plan permits. An error
// ends the execution and is returned.
using Visit = std::function<absl::Status(const Act&)>;

// Executes one step of validated programs. What is ordered: the acts of a
// stream; a register's writer before its readers of that micro-batch; these
// before the writer of the micro-batch that reuses the slot; a send before its
// receive, if the transfer is straight (tiles.h): clocks are those of any one
// rank, and what passes between others orders nothing for it. A send waits until
// its receiver is ready: what needs the network to buffer is blocked. Streams'
// order is static and registers have one writer, so whether an act is blocked,
// and what is ordered, is the same in every execution. kFailedPrecondition names
// the cycle of a blocked plan.
absl::Status Execute(absl::Span<const Program> programs, const Visit& visit);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SEMANTICS_EXECUTION_H_
