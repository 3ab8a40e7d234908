#include "runtime/actor/fault.h"

namespace weft::actor {

void Fault::Raise(const absl::Status& error) {
  std::vector<std::function<void(const absl::Status&)>> listeners;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (raised_.load(std::memory_order_relaxed)) return;
    status_ = error;
    raised_.store(true, std::memory_order_release);
    listeners = listeners_;
  }
  for (const auto& listener : listeners) listener(error);
}

absl::Status Fault::status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

void Fault::AddListener(std::function<void(const absl::Status&)> listener) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!raised_.load(std::memory_order_relaxed)) {
      listeners_.push_back(std::move(listener));
      return;
    }
  }
  listener(status());
}

}  // namespace weft::actor
