// Turns a hang into an error that says who waits for what.
#ifndef WEFT_RUNTIME_ACTOR_WATCHDOG_H_
#define WEFT_RUNTIME_ACTOR_WATCHDOG_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/actor/fault.h"
#include "runtime/actor/program.h"

namespace weft::actor {

// Looks at the programs of a process: when a step is under way, no act of
// any has ended for `timeout`, and all say that they do what they did, it raises a fault that names every busy stream.
// The programs and the fault outlive it.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  // `beside` may be null: tells what is known of ranks elsewhere, or "". By the
  // thread. While that is nothing it waits for `blind` longer, as another
  // process may know more.
  Watchdog(Clock::duration timeout, std::vector<const Program*> programs, Fault* fault,
           std::function<std::string()> beside = nullptr, Clock::duration blind = {})
      : timeout_(timeout), blind_(blind), programs_(std::move(programs)), fault_(fault), beside_(std::move(beside)) {}
  // Stops the thread.
  ~Watchdog();

  // Starts a thread that checks four times in a time-out. At most once.
  void Start();

  // One look at time `now`; true if it raised the fault. Called by the thread,
  // or by a test that brings its own clock instead.
  bool Check(Clock::time_point now);

 private:
  const Clock::duration timeout_, blind_;
  const std::vector<const Program*> programs_;
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
