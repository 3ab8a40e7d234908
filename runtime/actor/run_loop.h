// One stream: fires its actors in the plan's order.
//
// The thread of a stream knows its next act: the order is fixed. All that it asks is whether the act may begin:
//
//   stream `compute`                         stream `copies`
//     next act: `b`, micro-batch 1             `a` ends its act for micro-batch 1
//     b's condition: a has fired 2 times         a.fired = 2
//     1 < 2: waits at its own bell      ◄──────  rings the bells of the streams that wait for a
//     2 == 2: runs the act, b.fired = 2, rings in turn
//
// So a count and a bell are all that two streams share: no queue of ready acts, no lock where nobody sleeps.
// Actors of one stream need neither; their order was checked when the program was made (conditions.h). An act that
// fails raises the fault, which rings every bell; whoever waits looks at the fault too, and leaves.
#ifndef WEFT_RUNTIME_ACTOR_RUN_LOOP_H_
#define WEFT_RUNTIME_ACTOR_RUN_LOOP_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ops/abi/bell.h"
#include "runtime/actor/conditions.h"
#include "runtime/actor/fault.h"
#include "runtime/actor/spec.h"
#include "runtime/actor/stream_status.h"
#include "runtime/trace/timeline.h"

namespace weft::actor {

// An actor while it runs. Its stream's thread writes `fired`; others read it.
struct alignas(64) ActorState {
  std::atomic<int64_t> fired{0};
  int64_t busy_ns = 0;                // that its acts have taken so far; others read it between steps
  std::vector<Condition> conditions;  // on actors of other streams
  std::vector<Bell*> bells;           // of the streams that wait for this actor
};

// One thread steps. Describe() and acts() may be called by any.
class RunLoop {
 public:
  RunLoop(const ProgramSpec& spec, int stream, std::vector<ActorState>& states, Fault& fault);

  // Runs the stream's acts of one step. `before` counts the program's steps so
  // far, `step` those of the training run. Returns the fault's status if the
  // run fails here or elsewhere. Does not allocate unless it fails.
  absl::Status Step(int64_t before, int64_t step);

  // "actor `h.5.bwd` (step 12, micro-batch 1) waits for register `x` of `h.4`
  // on stream `compute`", or "" between steps and when nothing is left of the acts.
  std::string Describe() const;

  // The same while an act runs and itself waits for another rank. Otherwise "".
  std::string Waits() const;

  // How many acts this stream has ended.
  uint64_t acts() const { return acts_.load(std::memory_order_relaxed); }

  Bell& bell() { return bell_; }
  void set_track(trace::Track* track) { track_ = track; }

 private:
  int64_t Fired(int peer) const { return states_[peer].fired.load(std::memory_order_acquire); }
  bool Await(const Condition& condition, int64_t micro_batch);
  absl::Status Fire(int actor, const ActIndex& act);
  std::string Left() const;
  void Fail(int actor, const ActIndex& act, const absl::Status& error);

  const ProgramSpec& spec_;
  const int stream_;
  std::vector<ActorState>& states_;
  Fault& fault_;
  Bell bell_;
  trace::Track* track_ = nullptr;
  int64_t before_ = 0;

  void Say(StreamStatus::Word word, int64_t value) { words_[word].store(value, std::memory_order_relaxed); }
  int64_t Said(StreamStatus::Word word) const { return words_[word].load(std::memory_order_relaxed); }
  std::string NameOfAct() const;

  // What Describe() reads; words_ is own_ or what the spec gives.
  std::atomic<int64_t> own_[StreamStatus::kWords] = {};
  std::atomic<int64_t>* const words_;
  std::atomic<const Condition*> waits_for_{nullptr};
  std::atomic<uint64_t> acts_{0};
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_RUN_LOOP_H_
