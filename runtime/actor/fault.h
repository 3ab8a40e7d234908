// The first error of a run, and how everybody hears of it.
#ifndef WEFT_RUNTIME_ACTOR_FAULT_H_
#define WEFT_RUNTIME_ACTOR_FAULT_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "absl/status/status.h"

namespace weft::actor {

// Shared by everything that runs together: the streams of all ranks of a
// process. Raised once; a raised fault stays. Thread-safe.
class Fault {
 public:
  // Keeps `error` if it is the first, and calls the listeners. `error` is not ok.
  void Raise(const absl::Status& error);

  bool raised() const { return raised_.load(std::memory_order_acquire); }

  // The first error; ok while there is none.
  absl::Status status() const;

  // `listener` is called once, with the error, by the thread that raises it: at
  // once if it is raised already. It wakes whoever waits, and must live as
  // long as the fault.
  void AddListener(std::function<void(const absl::Status&)> listener);

 private:
  std::atomic<bool> raised_{false};
  mutable std::mutex mutex_;
  absl::Status status_;
  std::vector<std::function<void(const absl::Status&)>> listeners_;
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_FAULT_H_
