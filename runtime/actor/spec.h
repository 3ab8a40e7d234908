// What a program of actors is made of: registers, actors, and the order of the streams' acts. The words are those of
// the run of one rank: an Act is one firing (of plan::Act and sim's, no time is known here), a ProgramSpec describes
// what an actor::Program runs (plan::Program, of which it is made, is a stage of the plan as the compiler's
// verifier sees it). All indices are into the program's own
// lists; runtime/plan/plan.proto defines what the words mean.
#ifndef WEFT_RUNTIME_ACTOR_SPEC_H_
#define WEFT_RUNTIME_ACTOR_SPEC_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace weft::actor {

// One firing of an actor.
struct Act {
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
  virtual absl::Status Run(const Act& act) = 0;

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

// Each actor once, in order, for the micro-batch first; again for first + 1, ...
struct Run {
  std::vector<int> actors;
  int64_t first_micro_batch = 0;
  int64_t repeat = 1;
  std::vector<int64_t> offsets = {};  // empty, or one an actor: added to its micro-batch

  // Of the actor at `place` in the list, in a repetition.
  int64_t MicroBatch(size_t place, int64_t repetition) const {
    return first_micro_batch + repetition + (offsets.empty() ? 0 : offsets[place]);
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
  // Where the first streams say where they stand, see standing.h; they outlive the
  // program. Empty: nobody else looks.
  absl::Span<std::atomic<int64_t>> standing = {};
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_SPEC_H_
