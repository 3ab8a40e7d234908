// A task beside the steps.
#ifndef WEFT_TOOLS_RUN_ASIDE_H_
#define WEFT_TOOLS_RUN_ASIDE_H_

#include <atomic>
#include <thread>
#include <utility>

#include "absl/status/status.h"

namespace weft::run {

// One task at a time, on a thread of its own. Used by one thread.
class Aside {
 public:
  Aside() = default;
  ~Aside() { Join().IgnoreError(); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // The task before has been joined.
  template <typename Task>
  void Start(Task&& task) {
    at_rest_ = false;
    thread_ = std::thread([this, task = std::forward<Task>(task)] {
      status_ = task();
      at_rest_ = true;
    });
  }
  // Whether no task is under way.
  bool at_rest() const { return at_rest_; }
  // What the task has come to, once; OK if there was none.
  absl::Status Join() {
    if (thread_.joinable()) thread_.join();
    return std::exchange(status_, absl::OkStatus());
  }

 private:
  std::thread thread_;
  absl::Status status_;
  std::atomic<bool> at_rest_{true};
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_ASIDE_H_
