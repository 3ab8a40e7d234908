// Which act each stream of a rank is at, for the message on a rank that hangs or is lost: a few numbers that another
// process can read (runtime/collective/mpi/status_board.h) when this one no longer answers.
#ifndef WEFT_RUNTIME_ACTOR_STREAM_STATUS_H_
#define WEFT_RUNTIME_ACTOR_STREAM_STATUS_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "runtime/actor/spec.h"

namespace weft::actor {

// A stream's thread writes its words, which lie on a cache line of their own;
// anybody reads them. Zeros are a stream that is between steps.
struct StreamStatus {
  enum Word { kActor, kMicroBatch, kStep, kWaits, kWords = 8 };  // kActor counts from 1
  static_assert(std::atomic<int64_t>::is_always_lock_free);
};

// "actor `h.5.bwd` (step 12, micro-batch 1)".
std::string NameOfAct(const Actor& actor, const ActIndex& act);

// What the words of a program's first streams say: the acts that run, or, if
// none does, those that wait for registers: "actor `h.5.bwd` (step 12), actor
// `h.4.send` (step 12)"; "" between steps. Words that are none are passed over.
std::string TextOfStatus(const ProgramSpec& spec, absl::Span<const int64_t> words);

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_STREAM_STATUS_H_
