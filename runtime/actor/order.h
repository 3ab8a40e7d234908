// What an act waits for, worked out before the program runs.
//
// A stream's order of acts is fixed, and so an actor's k-th act is always the
// same one. Tokens and credits are therefore counts: the writer's slot for
// micro-batch i is full once the writer has fired i + 1 times, and free again
// once every reader has fired for the micro-batch that used it before.
#ifndef WEFT_RUNTIME_ACTOR_ORDER_H_
#define WEFT_RUNTIME_ACTOR_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/actor/spec.h"

namespace weft::actor {

// An act may begin when actor `peer` has fired `Needed(...)` times in all.
struct Condition {
  int peer = 0;
  int reg = 0;              // the register it is about
  bool credit = false;      // waits for a free slot, not for a full one
  int64_t acts_a_step = 1;  // of the peer
  bool each_micro_batch = false;
  int64_t offset = 0;

  // `step`: steps of this program before the act's.
  int64_t Needed(int64_t step, int64_t micro_batch) const {
    return acts_a_step * step + (each_micro_batch ? micro_batch : 0) + offset;
  }
};

// The conditions of every actor, on all streams. kInvalidArgument for a
// register without exactly one writer, or an index out of range.
absl::StatusOr<std::vector<std::vector<Condition>>> ConditionsOf(const ProgramSpec& spec);

// Every stream fires each of its actors for micro-batches 0, 1, ... in order
// (once if it fires once a step), and meets the conditions between its own
// actors by its order alone: they need no check while it runs.
absl::Status CheckOrder(const ProgramSpec& spec, const std::vector<std::vector<Condition>>& conditions);

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_ORDER_H_
