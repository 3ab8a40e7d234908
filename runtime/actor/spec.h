// What one rank runs, as plain data: registers, actors, and the order of acts on each stream.
//
//   ProgramSpec ── registers   `x`: room for 2 micro-batches
//               ├─ actors      `a` writes `x`, `b` reads it; each has a Work, which does its act
//               └─ streams     `compute`: a a b a b b, as Runs; one thread each
//
// An act is one firing of an actor. Here it is told by step and micro-batch alone: the actor that fires is known, and
// time is not. runtime/executor/program_spec.h makes the spec of a stage of the plan (plan::Program), RankProgram runs
// it. All indices are into the spec's own lists; runtime/plan/plan.proto defines the words.
#ifndef WEFT_RUNTIME_ACTOR_SPEC_H_
#define WEFT_RUNTIME_ACTOR_SPEC_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace weft::actor {

// Which of an actor's acts.
struct ActIndex {
  int64_t step = 0;         // of the training run
  int64_t micro_batch = 0;  // 0 for actors that fire once a step
};

// What an actor does.
class Work {
 public:
  virtual ~Work() = default;

  // Called by the thread of the actor's stream, one act at a time. An error
  // ends the run; the message says what was expected and found, the run loop
  // adds rank, actor and act.
  virtual absl::Status Run(const ActIndex& act) = 0;

  // What Run() waits for at this moment, "all_reduce #812 of group data[1];
  // rank 7 has not issued it", or "" if it computes. Any thread.
  virtual std::string Waiting() const { return ""; }

  // What a GPU still does of it after Run(): "all_reduce #812 of group data[1]", or "". Any thread.
  virtual std::string Left() const { return ""; }
};

// A value that passes between actors, with room for `slots` micro-batches.
struct Register {
  std::string name;
  int64_t slots = 1;
};

enum class Section {
  kMicro,  // fires once a micro-batch
  kStep,   // fires once a step
};

struct Actor {
  std::string name;
  int stream = 0;
  Section section = Section::kMicro;
  std::vector<int> reads;   // registers that other actors write
  std::vector<int> writes;  // registers that this actor alone writes
  Work* work = nullptr;     // outlives the program
};

// Each actor once, in order, for the micro-batch first; again for first + stride, ...
struct Run {
  std::vector<int> actors;
  int64_t first_micro_batch = 0;
  int64_t repeat = 1;
  std::vector<int64_t> offsets = {};  // empty, or one an actor: added to its micro-batch
  int64_t stride = 1;                 // an actor is in the list as often

  // Of the actor at `place` in the list, in a repetition.
  int64_t MicroBatch(size_t place, int64_t repetition) const {
    return first_micro_batch + repetition * stride + (offsets.empty() ? 0 : offsets[place]);
  }
};

struct Stream {
  std::string name;
  std::vector<Run> runs;
};

struct ProgramSpec {
  std::string where;  // "rank 3": the beginning of every error
  int64_t micro_batches = 1;
  std::vector<Register> registers;
  std::vector<Actor> actors;
  std::vector<Stream> streams;
  int spins = 0;  // how often a waiting stream looks before it sleeps
  // Memory for the StreamStatus (stream_status.h) of the first streams, where others than this process can read it. It
  // outlives the program. Empty: nobody else looks.
  absl::Span<std::atomic<int64_t>> status_words = {};
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_SPEC_H_
