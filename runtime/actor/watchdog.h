// Turns a hang into an error that says who waits for what.
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

  // `beside` may be null: tells what is known of ranks elsewhere, or "". By the
  // thread. While that is nothing it waits for `blind` longer, as another
  // process may know more.
  Watchdog(Clock::duration timeout, std::vector<const RankProgram*> programs, Fault* fault,
           std::function<std::string()> beside = nullptr, Clock::duration blind = {})
      : timeout_(timeout), blind_(blind), programs_(std::move(programs)), fault_(fault), beside_(std::move(beside)) {}
  // Stops the thread.
  ~Watchdog();

  // Starts a thread that checks every Interval(). At most once.
  void Start();
  // So much later than `timeout` a hang is told of at most, twice: of 600 s after 602 at most.
  static Clock::duration Interval(Clock::duration timeout) {
    return std::min<Clock::duration>(timeout / 4, std::chrono::seconds(1));
  }

  // One look at time `now`; true if it raised the fault. Called by the thread,
  // or by a test that brings its own clock instead.
  bool Check(Clock::time_point now);

 private:
  const Clock::duration timeout_, blind_;
  const std::vector<const RankProgram*> programs_;
  Fault* const fault_;
  const std::function<std::string()> beside_;
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
