// The actors of one rank, ready to run step after step: a run loop (run_loop.h) for each stream.
#ifndef WEFT_RUNTIME_ACTOR_RANK_PROGRAM_H_
#define WEFT_RUNTIME_ACTOR_RANK_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/actor/fault.h"
#include "runtime/actor/run_loop.h"
#include "runtime/actor/spec.h"
#include "runtime/trace/timeline.h"

namespace weft::actor {

// A step: the owner calls BeginStep(), then RunStream() for every stream, each
// on a thread of its own, and begins the next step when all have returned. A
// program whose step failed is not run again.
class RankProgram {
 public:
  // `fault` outlives the program; the program listens to it. The spec is that of a plan which the verifier has
  // proved: each stream's order meets the conditions between its own actors, so that they need no check while it runs.
  RankProgram(ProgramSpec spec, Fault* fault);
  RankProgram(const RankProgram&) = delete;
  RankProgram& operator=(const RankProgram&) = delete;

  void BeginStep() { ++begun_; }

  // Runs one stream's acts of the step begun last; `step` is its number in the
  // training run. Returns the first error of anything that shares the fault.
  absl::Status RunStream(int stream, int64_t step) { return loops_[stream]->Step(begun_ - 1, step); }

  int streams() const { return static_cast<int>(loops_.size()); }
  const ProgramSpec& spec() const { return spec_; }

  // Adds a track for each stream; before the first step.
  void Trace(trace::Timeline& timeline, int rank);

  // What each busy stream does, "rank 3: actor ... waits for ...". Any thread.
  std::vector<std::string> Describe() const;
  // The lines of the streams whose acts wait for other ranks. Any thread.
  std::vector<std::string> Waits() const;
  // Nanoseconds that the acts of an actor have taken so far, all steps together. Between steps. On a GPU an act takes
  // as long as it is enqueued.
  int64_t busy_ns(int actor) const { return states_[actor].busy_ns; }

  // Acts ended on all streams. Any thread.
  uint64_t acts() const;

 private:
  const ProgramSpec spec_;
  std::vector<ActorState> states_;
  std::vector<std::unique_ptr<RunLoop>> loops_;
  int64_t begun_ = 0;
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_RANK_PROGRAM_H_
