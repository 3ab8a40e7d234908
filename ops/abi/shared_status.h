// What became of work that several threads share.
#ifndef WEFT_OPS_ABI_SHARED_STATUS_H_
#define WEFT_OPS_ABI_SHARED_STATUS_H_

#include <mutex>

#include "absl/status/status.h"

namespace weft {

// Keeps the error that came first. Any number of threads may add.
class SharedStatus {
 public:
  void Add(const absl::Status& status) {
    if (status.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok()) status_ = status;
  }
  // When all threads are done.
  absl::Status Get() const { return status_; }

 private:
  std::mutex mutex_;
  absl::Status status_;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_SHARED_STATUS_H_
