// The actors of one rank, ready to run step after step: a run loop (run_loop.h) for each stream.
#ifndef WEFT_RUNTIME_ACTOR_PROGRAM_H_
#define WEFT_RUNTIME_ACTOR_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/actor/fault.h"
#include "runtime/actor/run_loop.h"
#include "runtime/actor/spec.h"
#include "runtime/trace/timeline.h"

namespace weft::actor {

// A step: the owner calls BeginStep(), then RunStream() for every stream, each
// on a thread of its own, and begins the next step when all have returned. A
// program whose step failed is not run again.
class Program {
 public:
  // `fault` outlives the program; the program listens to it. kInvalidArgument
  // or kFailedPrecondition for a spec that no order of acts can satisfy within
  // one of its streams. What holds between streams and ranks, the plan's
  // verifier has proved.
  static absl::StatusOr<std::unique_ptr<Program>> Create(ProgramSpec spec, Fault* fault);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

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
  // Acts ended on all streams. Any thread.
  uint64_t acts() const;

 private:
  Program(ProgramSpec spec, Fault* fault);
  void Connect(const std::vector<std::vector<Condition>>& conditions);

  const ProgramSpec spec_;
  Fault* const fault_;
  std::vector<ActorState> states_;
  std::vector<std::unique_ptr<RunLoop>> loops_;
  int64_t begun_ = 0;
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_PROGRAM_H_
