// Turns a hang into an error that says who waits for what.
//
//   no act of any stream has ended for `timeout`
//     └─ what do other processes know? "rank 2 is stopped: ..."  ─▶ raises the fault with it, at once
//        nothing                                                 ─▶ waits `grace` longer, then raises the fault
#ifndef WEFT_RUNTIME_ACTOR_WATCHDOG_H_
#define WEFT_RUNTIME_ACTOR_WATCHDOG_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/actor/fault.h"
#include "runtime/actor/rank_program.h"

namespace weft::actor {

// Looks at the programs of a process. It raises a fault that names every busy stream when a step is under way, no act
// of any stream has ended for `timeout`, and each stream says that it does what it did. The programs and the fault
// outlive it.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  // `elsewhere`, which the watchdog's thread calls, tells what is known of ranks of other processes, or ""; it may be
  // null. While it tells nothing the watchdog waits for `grace` more: the watchdog of another process may know more,
  // and its error is the better one.
  Watchdog(Clock::duration timeout, std::vector<const RankProgram*> programs, Fault* fault,
           std::function<std::string()> elsewhere = nullptr, Clock::duration grace = {})
      : timeout_(timeout),
        grace_(grace),
        programs_(std::move(programs)),
        fault_(fault),
        elsewhere_(std::move(elsewhere)) {}
  // Stops the thread.
  ~Watchdog();

  // Starts a thread that checks every Interval(). At most once.
  void Start();
  // A hang is told at most two intervals after `timeout`. Example: a time-out of 600 s has an interval of 1 s, so a
  // hang is told after 602 s at most.
  static Clock::duration Interval(Clock::duration timeout) {
    return std::min<Clock::duration>(timeout / 4, std::chrono::seconds(1));
  }

  // One look at time `now`; true if it raised the fault. Called by the thread,
  // or by a test that brings its own clock instead.
  bool Check(Clock::time_point now);

 private:
  const Clock::duration timeout_, grace_;
  const std::vector<const RankProgram*> programs_;
  Fault* const fault_;
  const std::function<std::string()> elsewhere_;
  uint64_t acts_ = 0;
  std::vector<std::string> busy_;
  Clock::time_point moved_{};
  bool idle_ = true;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_WATCHDOG_H_
