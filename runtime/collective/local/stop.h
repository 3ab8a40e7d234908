// How all waits of a fabric end early.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_STOP_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_STOP_H_

#include <atomic>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "ops/abi/bell.h"

namespace weft::collective {

// Thread-safe. Shared by all ranks of a fabric.
class Stop {
 public:
  bool requested() const { return requested_.load(std::memory_order_acquire); }

  absl::Status reason() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return reason_;
  }

  // The first reason stays.
  void Request(const absl::Status& reason) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (requested_.load(std::memory_order_relaxed)) return;
    reason_ = reason;
    requested_.store(true, std::memory_order_release);
    for (Bell* bell : bells_) bell->Ring();
  }

  // `bell` is rung on a request; it lives as long as this object.
  void Add(Bell* bell) {
    std::lock_guard<std::mutex> lock(mutex_);
    bells_.push_back(bell);
    if (requested_.load(std::memory_order_relaxed)) bell->Ring();
  }

 private:
  std::atomic<bool> requested_{false};
  mutable std::mutex mutex_;
  absl::Status reason_;
  std::vector<Bell*> bells_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_STOP_H_
