// What an act waits for, worked out before the program runs. (The order of acts itself is the plan's.)
//
// A stream's order of acts is fixed, and so an actor's k-th act is always the
// same one. Tokens and credits are therefore counts: the writer's slot for
// micro-batch i is full once the writer has fired i + 1 times, and free again
// once every reader has fired for the micro-batch that used it before.
#ifndef WEFT_RUNTIME_ACTOR_CONDITIONS_H_
#define WEFT_RUNTIME_ACTOR_CONDITIONS_H_

#include <cstdint>
#include <vector>

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

// What keeps an act from beginning: the first of its actor's conditions that
// does not hold; null if it may begin. `fired(peer)` tells how often an actor
// has fired; as counts only grow, what held once holds. Whoever runs acts asks
// this: the run loop of threads, and the simulator.
template <typename Fired>
const Condition* Unmet(const std::vector<Condition>& conditions, int64_t step, int64_t micro_batch,
                       const Fired& fired) {
  for (const Condition& condition : conditions) {
    if (fired(condition.peer) < condition.Needed(step, micro_batch)) return &condition;
  }
  return nullptr;
}

// The acts of one stream in a step, in its order. Points into the spec; does not
// allocate.
class Cursor {
 public:
  Cursor(const ProgramSpec& spec, int stream) : spec_(&spec), stream_(&spec.streams[stream]) { Settle(); }

  bool done() const { return run_ == stream_->runs.size(); }
  // The act it stands at; not done.
  int actor() const { return stream_->runs[run_].actors[place_]; }
  int64_t micro_batch() const {  // 0 for actors that fire once a step
    if (spec_->actors[actor()].section == Section::kStep) return 0;
    return stream_->runs[run_].MicroBatch(place_, repetition_);
  }
  void Advance() {
    ++place_;
    Settle();
  }

 private:
  // To the next run that has an act left.
  void Settle() {
    while (!done() && place_ == stream_->runs[run_].actors.size()) {
      place_ = 0;
      const Run& run = stream_->runs[run_];
      if (run.actors.empty() || ++repetition_ >= run.repeat) {
        repetition_ = 0;
        ++run_;
      }
    }
  }

  const ProgramSpec* spec_;
  const Stream* stream_;
  size_t run_ = 0;
  int64_t repetition_ = 0;
  size_t place_ = 0;
};

// The conditions of every actor, on all streams. Every register has one writer.
std::vector<std::vector<Condition>> ConditionsOf(const ProgramSpec& spec);

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_CONDITIONS_H_
